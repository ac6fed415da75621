{ document, ... }:
document [ { instances.shop.web.package = { scope }: { name = "web"; build = { }; }; } ]
