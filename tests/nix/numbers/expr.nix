# kix.number writes the number the schema asks for; the same value always reads the same.
{ resources, kix, document, lib, ... }:
{
  texts = map (text: (kix.number text).text) [ "0.1" "-1.50" "3.0" "0" "0.0" "100" "12345.678" ];
  refused = map (text: (builtins.tryEval (kix.number text).text).success) [ "1e5" "0.00001" "1234567890123456" ".5" "01" "-0" "x" ];
  document = (lib.findFirst (r: r.id == "ConfigMap/n@a") null (document [ { resources.a.ConfigMap.n.spec.x = kix.number "0.1"; } ]).resources).manifest.spec;
}
