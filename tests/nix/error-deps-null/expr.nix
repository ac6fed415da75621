{ document, user, ... }:
document [ { instances.shop.web = { package = user; deps.postgres = null; }; } ]
