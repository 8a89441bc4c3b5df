"""tau2-bench's airline and retail: conversations with a user who speaks freely, and a database that is compared."""
