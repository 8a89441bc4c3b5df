// Elements of the page. Text of a model is only ever a text node: nothing here reads markup.
"use strict";

explorer.elements = (() => {
  const LONG = 6000;
  const SHOWN = 4000;
  // Control characters, those that turn the direction of writing or are not seen, and halves of characters.
  const UNSEEN =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
  const NAMES = {
    0: "NUL",
    7: "BEL",
    8: "BS",
    13: "CR",
    27: "ESC",
    127: "DEL",
    0x200b: "zero-width space",
    0x200e: "LRM",
    0x200f: "RLM",
    0x202a: "LRE",
    0x202b: "RLE",
    0x202c: "PDF",
    0x202d: "LRO",
    0x202e: "RLO",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
    0xfeff: "BOM",
  };

  /** An element: `on` has its listeners, `class` its classes, other keys are attributes (null and false: none). */
  function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "on") for (const [kind, listener] of Object.entries(value)) node.addEventListener(kind, listener);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
    }
    node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return node;
  }

  /** Text as it is, each character that is not seen as a mark with its name. */
  function marked(text) {
    const parts = [];
    let from = 0;
    for (const match of text.matchAll(UNSEEN)) {
      if (match[0] === "\r" && text[match.index + 1] === "\n") continue;
      const code = match[0].charCodeAt(0);
      const name = NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
      parts.push(
        text.slice(from, match.index),
        el("span", { class: "mark", title: "a character that is not seen" }, name),
      );
      from = match.index + match[0].length;
    }
    parts.push(text.slice(from));
    return parts.filter((part) => part !== "");
  }

  /** A text of any length, in lines as it was written; a very long one is cut until a reader wants all of it. */
  function text(value, attributes = {}) {
    const whole = typeof value === "string" ? value : JSON.stringify(value, null, 1);
    const node = el("div", { ...attributes, class: `text ${attributes.class ?? ""}`, dir: "auto" });
    if (whole.length <= LONG) {
      node.append(...marked(whole));
      return node;
    }
    const more = el("button", { type: "button" }, `Show all ${whole.length.toLocaleString("en")} characters`);
    more.addEventListener("click", () => {
      node.replaceChildren(...marked(whole));
      node.tabIndex = -1;
      node.focus();
    });
    node.append(...marked(whole.slice(0, SHOWN)), " ... ", more);
    return node;
  }

  /** A table, which may be wider than the page: `label` tells it to who does not see it. */
  function table(label, titles, rows, caption = null) {
    return el(
      "div",
      { class: "wide", tabindex: 0, role: "region", "aria-label": label },
      el(
        "table",
        {},
        caption ? el("caption", {}, caption) : null,
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            titles.map((title) => el("th", { scope: "col" }, title)),
          ),
        ),
        el("tbody", {}, rows),
      ),
    );
  }

  /** A field under its label. */
  function field(label, input, id = `field-${label.replace(/\W+/g, "-")}`) {
    input.id = id;
    return el("div", { class: "field" }, el("label", { for: id }, label), input);
  }

  /** A choice with its label; `options` are values, or [value, words]. */
  function choice(label, options, value, change, id) {
    const select = el("select", { on: { change: () => change(select.value) } });
    for (const option of options) {
      const [given, words] = Array.isArray(option) ? option : [option, option];
      select.append(el("option", { value: given, selected: given === value }, words));
    }
    return field(label, select, id);
  }

  /** A name as one line of text. */
  const name = (value) => marked(String(value).replace(/\s+/g, " "));

  /** Say something to those who do not see the page change. */
  const say = (words) => (document.getElementById("status").textContent = words);

  return { el, marked, text, table, field, choice, name, say };
})();
