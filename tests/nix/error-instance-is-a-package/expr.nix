{ document, ... }:
document [ { instances.shop.web = { scope }: { name = "web"; }; } ]
