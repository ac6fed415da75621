{ document, simple, ... }:
document [ { instances.shop.web.package = simple "web" (scope: scope.mkResource { kind = "ConfigMap"; name = 5; }); } ]
