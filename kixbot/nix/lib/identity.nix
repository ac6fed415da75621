# Identities by the formula of kixbot/identity.py: each resource is the path of a text whose references are the paths
# of what it refers to. Lazy: only `activation` asks for it; Python computes the same for a build.
{ basics }:
let
  inherit (builtins)
    attrNames
    concatStringsSep
    elem
    foldl'
    isAttrs
    isList
    listToAttrs
    map
    mapAttrs
    removeAttrs
    replaceStrings
    sort
    substring
    toFile
    toJSON
    unsafeDiscardStringContext
    ;
  inherit (basics) stringToCharacters optionalAttrs;
  allowed = stringToCharacters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+._?=-";
  fileName =
    text:
    substring 0 200 (
      concatStringsSep "" (map (c: if elem c allowed then c else "_") (stringToCharacters text))
    )
    + ".json";

  # A number stands in the text as a marked string first, since Nix prints floats cut.
  numbersMarked =
    value:
    if isAttrs value then
      if value ? __kix_number__ then
        "__kix_number__${value.__kix_number__}__kix_end__"
      else
        mapAttrs (_: numbersMarked) value
    else if isList value then
      map numbersMarked value
    else
      value;
  numbersOpened = replaceStrings [
    "\"__kix_number__"
    "__kix_end__\""
  ] [ "" "" ];

  # What is hashed of a manifest: no status, no steering annotations, no Secret values.
  hashed =
    manifest:
    let
      metadata = manifest.metadata or { };
      annotations = removeAttrs (metadata.annotations or { }) [
        "kix.run/cede"
        "kix.run/ignore"
      ];
      emptied = metadata ? annotations && annotations == { } && metadata.annotations != { };
      isSecret = manifest.kind == "Secret" && manifest.apiVersion == "v1";
      data = (manifest.data or { }) // (manifest.stringData or { });
    in
    removeAttrs manifest [
      "status"
      "stringData"
    ]
    // {
      metadata =
        removeAttrs metadata [ "annotations" ]
        // optionalAttrs (metadata ? annotations && !emptied) { inherit annotations; };
    }
    // optionalAttrs (isSecret && (manifest ? data || manifest ? stringData)) { data = mapAttrs (_: _: "") data; }
    // optionalAttrs (!isSecret && manifest ? stringData) { inherit (manifest) stringData; };
in
{
  # entries: [{ id kind namespace name manifest refs }], refs being ids. → { name path }.
  activation =
    cluster: entries:
    let
      byId = listToAttrs (map (entry: { name = entry.id; value = entry; }) entries);
      pathOf =
        entry:
        let
          marked = toJSON (numbersMarked (hashed entry.manifest));
          body = numbersOpened (unsafeDiscardStringContext marked);
          file = fileName "${entry.kind}-${if entry.namespace == null then "" else entry.namespace}-${entry.name}";
        in
        toFile file (foldl' (text: ref: text + substring 0 0 paths.${ref}) body entry.refs);
      paths = mapAttrs (
        id: entry: builtins.addErrorContext "while computing the identity of ${id}" (pathOf entry)
      ) byId;
      plainPath = id: unsafeDiscardStringContext paths.${id};
      rows = map (id: {
        inherit id;
        path = plainPath id;
        refs = sort (a: b: a < b) (map plainPath byId.${id}.refs);
      }) (attrNames byId);
      body = foldl' (text: id: text + substring 0 0 paths.${id}) (toJSON rows) (attrNames byId);
      path = unsafeDiscardStringContext (toFile (fileName "Activation-${cluster}") body);
    in
    {
      name = "${cluster}-${substring 0 12 (substring 11 (-1) path)}";
      inherit path;
    };
}
