# Nothing was set: every test fills the link.
true
