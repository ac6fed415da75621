# The evaluated cluster as one plain document, and what must hold of every resource in it.
{
  basics,
  errors,
  manifest,
  markers,
  identity,
}:
let
  inherit (builtins)
    addErrorContext
    attrNames
    concatMap
    filter
    hasAttr
    isAttrs
    isString
    listToAttrs
    map
    toJSON
    unsafeDiscardStringContext
    ;
  inherit (basics) optional sortedUnique;
  plain = unsafeDiscardStringContext;
  originOf = position: if position == null then null else { inherit (position) file line; };
  placeText = origin: if origin == null then "" else " (${errors.showPlace { pos = origin; }})";
in
rec {
  inherit originOf;

  # Every marker that may stand in a manifest, by path.
  tablesOf =
    { resources, externals }:
    let
      ids = map (r: r.id) resources;
    in
    {
      hard = markers.tableOf markers.nameMarker ids;
      soft = markers.tableOf markers.softMarker ids;
      external = markers.tableOf markers.nameMarker (map (e: e.id) externals);
    };

  # A resource as it stands in the document, with what its string contexts say.
  entryOf =
    { tables, treePath }:
    r:
    let
      body = manifest.plainOf r.body;
      inside = addErrorContext "while evaluating resource '${r.id}'${placeText r.origin}";
      text = inside (toJSON body);
      context = markers.contextOf text;
      classes = map classify context;
      classify =
        path:
        let
          pin = markers.readPin path;
        in
        if hasAttr path tables.hard then
          {
            kind = "hard";
            value = tables.hard.${path};
          }
        else if hasAttr path tables.soft then
          {
            kind = "soft";
            value = tables.soft.${path};
          }
        else if hasAttr path tables.external then
          {
            # No edge: it is not in the build.
            kind = "external";
            value = tables.external.${path};
          }
        else if pin != null then
          {
            kind = "pin";
            value = pin;
          }
        else
          {
            kind = if markers.isMarkerPath path then "lost" else "store";
            value = path;
          };
      ofKind = kind: map (c: c.value) (filter (c: c.kind == kind) classes);
      afterIds =
        entry:
        if isAttrs entry && hasAttr "id" entry then
          [ entry.id ]
        else if isString entry && markers.contextOf entry != [ ] then
          concatMap (
            path:
            optional (hasAttr path tables.hard) tables.hard.${path}
            ++ optional (hasAttr path tables.soft) tables.soft.${path}
          ) (markers.contextOf entry)
        else if isString entry then
          [ entry ]
        else
          throw "${r.id}: after: expected resources or their ids, found ${errors.showValue entry}";
      others = filter (id: id != r.id);
      after = sortedUnique (others (concatMap afterIds r.after));
      known = id: hasAttr (plain (markers.nameMarker id)) tables.hard;
      say = message: hint: {
        inherit message hint;
        package = r.package;
        resource = r.id;
        origin = originOf r.origin;
      };
    in
    {
      inherit (r)
        id
        kind
        namespace
        name
        ;
      manifest = body;
      hard = sortedUnique (others (ofKind "hard" ++ (r.hard or [ ])));
      soft = sortedUnique (others (ofKind "soft"));
      inherit after;
      pins = ofKind "pin";
      assertions =
        map (f: say "${r.id} ${f.path}: ${f.message}" f.hint) (
          inside (manifest.faultsIn "$" r.body) ++ (if r.own or false then [ ] else manifest.reservedIn "$" r.body)
        )
        ++ optional (!(r.own or false) && r.group == "kix.run") (
          say "${r.id}: objects of group kix.run are made by kix alone" null
        )
        ++ map (
          _: say "${r.id} refers to a resource that no build returned" "return it from build, or cut the reference with kix.weak"
        ) (ofKind "lost")
        ++ map (
          path:
          say "${r.id} holds the store path of ${builtins.substring 44 (-1) path}, which means nothing in a cluster" "builtins.readFile gives a file's text"
        ) (ofKind "store")
        ++ optional (treePath != null && basics.hasInfix treePath text) (
          say "${r.id} holds the path of the definition's folder, which differs from machine to machine" "builtins.readFile gives a file's text"
        )
        ++ map (id: say "${r.id}: after names ${id}, which is not in the build" null) (
          filter (id: !(known id)) after
        );
      document = {
        inherit (r) id package ready;
        manifest = body;
        hard = sortedUnique (others (ofKind "hard" ++ (r.hard or [ ])));
        soft = sortedUnique (others (ofKind "soft"));
        inherit after;
        cede = sortedUnique (map plain r.cede);
        generated = map plain r.generated;
        origin = originOf r.origin;
      };
    };

  activationOf =
    name: entries:
    identity.activation name (
      map (e: {
        inherit (e) id kind manifest;
        namespace = if e.namespace == null then null else plain e.namespace;
        name = plain e.name;
        refs = sortedUnique (e.hard ++ e.after);
      }) entries
    );

  # The pins in use: every key once, with what the manifests got.
  pinsOf =
    pins: entries:
    let
      used = listToAttrs (
        map (use: {
          name = use.key;
          value = use;
        }) (concatMap (e: e.pins) entries)
      );
    in
    map (key: {
      inherit key;
      reference = if pins ? ${key} then pins.${key}.reference else used.${key}.reference;
      pinned = pins ? ${key};
    }) (attrNames used);
}
