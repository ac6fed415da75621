{ document, simple, ... }:
document [ { instances.shop.web.package = { scope }: { name = "web"; build = _: { a = scope.mkResource { name = "web"; }; }; }; } ]
