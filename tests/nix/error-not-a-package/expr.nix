{ document, ... }:
document [ { instances.shop.web.package = { name = "web"; }; } ]
