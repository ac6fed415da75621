{ document, simple, ... }:
document [ { instances."My Shop".web.package = simple "web" (_: { }); } ]
