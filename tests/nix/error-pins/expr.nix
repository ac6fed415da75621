{ document, kix, ... }:
document [ { pins = kix.readPins ./pins.json; instances.a.web.package = { scope, pins }: { name = "web"; build = _: { a = scope.mkConfigMap { name = "a"; data.i = pins.image "web" "web:1"; }; }; }; } ]
