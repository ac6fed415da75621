# Kinds that kube-apiserver itself serves: the version people write (Kubernetes 1.34's preferred ones) and whether
# the kind lives in a namespace. Source: `kubectl api-resources` of a bare 1.34 control plane.
{ basics, errors }:
let
  inherit (builtins)
    elem
    elemAt
    hasAttr
    head
    split
    ;
  kindsIn = apiVersion: kinds: basics.genAttrs kinds (_: apiVersion);
  namespaced =
    kindsIn "v1" [
      "Binding"
      "ConfigMap"
      "Endpoints"
      "Event"
      "LimitRange"
      "PersistentVolumeClaim"
      "Pod"
      "PodTemplate"
      "ReplicationController"
      "ResourceQuota"
      "Secret"
      "Service"
      "ServiceAccount"
    ]
    // kindsIn "apps/v1" [
      "ControllerRevision"
      "DaemonSet"
      "Deployment"
      "ReplicaSet"
      "StatefulSet"
    ]
    // kindsIn "autoscaling/v2" [ "HorizontalPodAutoscaler" ]
    // kindsIn "batch/v1" [
      "CronJob"
      "Job"
    ]
    // kindsIn "coordination.k8s.io/v1" [ "Lease" ]
    // kindsIn "discovery.k8s.io/v1" [ "EndpointSlice" ]
    // kindsIn "networking.k8s.io/v1" [
      "Ingress"
      "NetworkPolicy"
    ]
    // kindsIn "policy/v1" [ "PodDisruptionBudget" ]
    // kindsIn "rbac.authorization.k8s.io/v1" [
      "Role"
      "RoleBinding"
    ]
    // kindsIn "resource.k8s.io/v1" [
      "ResourceClaim"
      "ResourceClaimTemplate"
    ]
    // kindsIn "storage.k8s.io/v1" [ "CSIStorageCapacity" ];
  clusterScoped =
    kindsIn "v1" [
      "Namespace"
      "Node"
      "PersistentVolume"
    ]
    // kindsIn "admissionregistration.k8s.io/v1" [
      "MutatingWebhookConfiguration"
      "ValidatingAdmissionPolicy"
      "ValidatingAdmissionPolicyBinding"
      "ValidatingWebhookConfiguration"
    ]
    // kindsIn "apiextensions.k8s.io/v1" [ "CustomResourceDefinition" ]
    // kindsIn "apiregistration.k8s.io/v1" [ "APIService" ]
    // kindsIn "certificates.k8s.io/v1" [ "CertificateSigningRequest" ]
    // kindsIn "flowcontrol.apiserver.k8s.io/v1" [
      "FlowSchema"
      "PriorityLevelConfiguration"
    ]
    // kindsIn "networking.k8s.io/v1" [
      "IngressClass"
      "IPAddress"
      "ServiceCIDR"
    ]
    // kindsIn "node.k8s.io/v1" [ "RuntimeClass" ]
    // kindsIn "rbac.authorization.k8s.io/v1" [
      "ClusterRole"
      "ClusterRoleBinding"
    ]
    // kindsIn "resource.k8s.io/v1" [
      "DeviceClass"
      "ResourceSlice"
    ]
    // kindsIn "scheduling.k8s.io/v1" [ "PriorityClass" ]
    // kindsIn "storage.k8s.io/v1" [
      "CSIDriver"
      "CSINode"
      "StorageClass"
      "VolumeAttachment"
      "VolumeAttributesClass"
    ];
  # Custom kinds that their projects' CRDs declare cluster-scoped.
  clusterScopedCustom = [
    "ClusterIssuer.cert-manager.io"
    "CiliumClusterwideNetworkPolicy.cilium.io"
    "ClusterExternalSecret.external-secrets.io"
    "ClusterSecretStore.external-secrets.io"
    "GatewayClass.gateway.networking.k8s.io"
    "NodePool.karpenter.sh"
    "ClusterPolicy.kyverno.io"
    "ClusterImageCatalog.postgresql.cnpg.io"
    "VolumeSnapshotClass.snapshot.storage.k8s.io"
    "VolumeSnapshotContent.snapshot.storage.k8s.io"
  ];
  # The group is left out of ids for these (the same table as kixbot/model/resource.py).
  builtinGroups = [
    ""
    "admissionregistration.k8s.io"
    "apiextensions.k8s.io"
    "apiregistration.k8s.io"
    "apps"
    "authentication.k8s.io"
    "authorization.k8s.io"
    "autoscaling"
    "batch"
    "certificates.k8s.io"
    "coordination.k8s.io"
    "discovery.k8s.io"
    "events.k8s.io"
    "flowcontrol.apiserver.k8s.io"
    "internal.apiserver.k8s.io"
    "networking.k8s.io"
    "node.k8s.io"
    "policy"
    "rbac.authorization.k8s.io"
    "resource.k8s.io"
    "scheduling.k8s.io"
    "storage.k8s.io"
    "storagemigration.k8s.io"
  ];
in
rec {
  inherit builtinGroups;
  known = namespaced // clusterScoped;

  # "apps/v1" → "apps", "v1" → "".
  groupOf =
    apiVersion:
    let
      parts = split "/" apiVersion;
    in
    if builtins.length parts == 1 then "" else head parts;
  versionOf =
    apiVersion:
    let
      parts = split "/" apiVersion;
    in
    elemAt parts (builtins.length parts - 1);
  kindGroup = kind: group: if elem group builtinGroups then kind else "${kind}.${group}";

  # The version of a kind whose author wrote none; throws for a kind that is not built in.
  apiVersionOf =
    where: place: kind:
    known.${kind} or (
      let
        near = errors.nearest kind (builtins.attrNames known);
      in
      throw ''
        ${where}: kind "${kind}" is not built into Kubernetes, so it needs an apiVersion${place}
        hint: ${
          if near == null then
            "write apiVersion = \"<group>/<version>\""
          else
            "did you mean \"${near}\"? else write apiVersion = \"<group>/<version>\""
        }''
    );
  isClusterScoped =
    kind: group:
    if elem group builtinGroups then
      hasAttr kind clusterScoped
    else
      elem "${kind}.${group}" clusterScopedCustom;

  # `Kind[.group]/name[@namespace]`.
  idOf =
    {
      kind,
      group,
      name,
      namespace,
    }:
    "${kindGroup kind group}/${name}${if namespace == null then "" else "@${namespace}"}";

  # Where the pod template of a workload stands; null for every other kind.
  podTemplatePath =
    kind: group:
    if
      group == "apps"
      && elem kind [
        "DaemonSet"
        "Deployment"
        "ReplicaSet"
        "StatefulSet"
      ]
      || group == "batch" && kind == "Job"
    then
      [
        "spec"
        "template"
      ]
    else if group == "batch" && kind == "CronJob" then
      [
        "spec"
        "jobTemplate"
        "spec"
        "template"
      ]
    else
      null;
  # Jobs make their own selector.
  hasSelector = kind: group: group == "apps" && podTemplatePath kind group != null;
}
