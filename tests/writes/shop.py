"""An invented shop and an invented airline: what their tools tell, and calls that write."""

from __future__ import annotations

from typing import Any

from tests.writes.talks import Call, Message, agent, result, user

ORDER = {
    "order_id": "#W7000001",
    "items": [
        {"name": "Mug", "item_id": "1111", "price": 9.0, "options": {"color": "red", "lid": "yes"}},
        {"name": "Tea Pot", "item_id": "2222", "price": 30.0, "options": {"color": "white", "lid": "no"}},
    ],
}
MUGS = {
    "name": "Mug",
    "variants": {
        "1111": {"item_id": "1111", "options": {"color": "red", "lid": "yes"}, "price": 9.0},
        "1112": {"item_id": "1112", "options": {"color": "blue", "lid": "yes"}, "price": 11.0},
        "1113": {"item_id": "1113", "options": {"color": "green", "lid": "no"}, "price": 12.5},
    },
}
CUSTOMER = {
    "user_id": "ada_k",
    "payment_methods": {"credit_card_77": {"brand": "visa", "last_four": "4321", "id": "credit_card_77"}},
    "orders": ["#W7000001", "#W7000002"],
    "reservations": ["AB12CD", "EF34GH", "IJ56KL"],
}
BOOKING = {
    "reservation_id": "AB12CD",
    "cabin": "economy",
    "flights": [{"flight_number": "HAT101", "date": "2024-05-20", "price": 100}],
    "passengers": [{"first_name": "Ada", "last_name": "Kay"}],
    "total_baggages": 1,
}
FLIGHTS = [
    {
        "flight_number": "HAT202",
        "scheduled_departure_time_est": "14:00:00",
        "prices": {"economy": 150, "business": 400},
    },
    {
        "flight_number": "HAT303",
        "scheduled_departure_time_est": "18:00:00",
        "prices": {"economy": 170, "business": 420},
    },
]

SHOP: tuple[Message, ...] = (
    user("Hello, it is about order W7000001."),
    agent(None, ("get_order", {"id": "#W7000001"}), ("get_product", {"id": "1"}), ("get_user", {"id": "ada_k"})),
    result(ORDER),
    result(MUGS, 1),
    result(CUSTOMER, 2),
)
AIRLINE: tuple[Message, ...] = (
    user("Hello, it is about my booking."),
    agent(None, ("get_reservation", {"id": "AB12CD"}), ("search", {"to": "SFO"}), ("get_user", {"id": "ada_k"})),
    result(BOOKING),
    result(FLIGHTS, 1),
    result(CUSTOMER, 2),
)


def cancel(order: str = "#W7000001") -> Call:
    return "cancel_pending_order", {"order_id": order, "reason": "no longer needed"}


def cancel_booking(booking: str = "AB12CD") -> Call:
    return "cancel_reservation", {"reservation_id": booking}


def modify(new: str = "1112", pays: str = "paypal_55") -> Call:
    content = {"order_id": "#W7000001", "item_ids": ["1111"], "new_item_ids": [new], "payment_method_id": pays}
    return "modify_pending_order_items", content


def give_back(*items: str) -> Call:
    content = {"order_id": "#W7000001", "item_ids": list(items), "payment_method_id": "paypal_55"}
    return "return_delivered_order_items", content


def readdress(street: str = "12 Elm Street") -> Call:
    content = {
        "order_id": "#W7000001",
        "address1": street,
        "address2": "",
        "city": "Reno",
        "state": "NV",
        "zip": "89501",
    }
    return "modify_pending_order_address", content


def repay() -> Call:
    return "modify_pending_order_payment", {"order_id": "#W7000001", "payment_method_id": "credit_card_77"}


def fly(flight: str = "HAT202", date: str = "2024-05-21", cabin: str = "economy", pays: str = "credit_card_77") -> Call:
    flights = [{"flight_number": flight, "date": date}]
    content = {"reservation_id": "AB12CD", "cabin": cabin, "flights": flights, "payment_id": pays}
    return "update_reservation_flights", content


def bags(total: int = 2, paid: int = 1) -> Call:
    content = {"reservation_id": "AB12CD", "total_baggages": total, "nonfree_baggages": paid}
    return "update_reservation_baggages", {**content, "payment_id": "credit_card_77"}


def passenger(first: str = "Bo") -> Call:
    content = {
        "reservation_id": "AB12CD",
        "passengers": [{"first_name": first, "last_name": "Lund", "dob": "1980-02-02"}],
    }
    return "update_reservation_passengers", content


def book(amount: float = 150, flight: str = "HAT202") -> Call:
    content: dict[str, Any] = {
        "user_id": "ada_k",
        "cabin": "economy",
        "flights": [{"flight_number": flight, "date": "2024-05-21"}],
        "passengers": [{"first_name": "Ada", "last_name": "Kay", "dob": "1990-01-01"}],
        "payment_methods": [{"payment_id": "credit_card_77", "amount": amount}],
        "total_baggages": 0,
    }
    return "book_reservation", content
