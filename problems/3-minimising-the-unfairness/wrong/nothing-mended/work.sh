# the cause was found, but nothing was done about it
true
