"""Sets of values that people give, which together use all of the chart."""

from types import MappingProxyType

from tests.deploy.chart import Object

TARGETS = {"targets": [{"name": "shop", "address": "shop.example.com:443", "http": {"large_bytes": 2_097_152}}]}

_WATCHING = {"backends_from": {"kubernetes": {"service": "shop", "namespace": "shop", "port": "https"}}}
WATCHED = {
    "targets": [
        {"name": "shop", "address": "shop.example.com:443", **_WATCHING},
        {"name": "shop-too", "address": "www.example.com:443", **_WATCHING},
        {
            "name": "own",
            "address": "own.example.com:443",
            "backends_from": {"kubernetes": {"service": "a", "port": 8443}},
        },
    ]
}

EVERYTHING: Object = {
    "config": TARGETS,
    "commonLabels": {"team": "edge"},
    "image": {"registry": "images.example.com", "digest": f"sha256:{'a' * 64}", "pullSecrets": ["pull"]},
    "web": {"configSecret": "web", "externalUrl": "https://ops.example.com/tlsprobe/", "routePrefix": "/probe"},
    "extraArgs": ["--web.enable-lifecycle"],
    "extraEnv": [{"name": "HTTP_PROXY", "value": ""}],
    "extraEnvFrom": [{"secretRef": {"name": "env"}}],
    "extraVolumes": [{"name": "ca", "emptyDir": {}}],
    "extraVolumeMounts": [{"name": "ca", "mountPath": "/ca"}],
    "extraConfigmapMounts": [{"name": "bundle", "mountPath": "/bundle", "items": [{"key": "a", "path": "b"}]}],
    "extraSecretMounts": [{"name": "token", "mountPath": "/token", "defaultMode": 0o440, "optional": True}],
    "extraContainers": [{"name": "other", "image": "other"}],
    "extraInitContainers": [{"name": "first", "image": "first"}],
    "extraManifests": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "{{ .Release.Name }}-more"}}],
    "podAnnotations": {"example.com/a": "b"},
    "podLabels": {"a": "b"},
    "annotations": {"c": "d"},
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "tolerations": [{"operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
    "priorityClassName": "high",
    "runtimeClassName": "runc",
    "schedulerName": "own",
    "minReadySeconds": 5,
    "hostAliases": [{"ip": "192.0.2.1", "hostnames": ["shop.example.com"]}],
    "hostNetwork": True,
    "dnsConfig": {"options": [{"name": "ndots", "value": "1"}]},
    "service": {
        "type": "NodePort",
        "nodePort": 30507,
        "labels": {"a": "b"},
        "annotations": {"a": "b"},
        "ipFamilyPolicy": "PreferDualStack",
        "ipFamilies": ["IPv6", "IPv4"],
    },
    "serviceAccount": {"name": "own", "annotations": {"a": "b"}},
    "podDisruptionBudget": {"enabled": True},
    "networkPolicy": {
        "enabled": True,
        "from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}],
        "egress": [{"ports": [{"port": 53, "protocol": "UDP"}, {"port": 443}]}],
    },
    "ingress": {
        "enabled": True,
        "className": "nginx",
        "hosts": [{"host": "ops.example.com", "paths": [{"path": "/tlsprobe", "pathType": "Prefix"}]}],
        "tls": [{"secretName": "tls", "hosts": ["ops.example.com"]}],
    },
    "route": {"enabled": True, "parentRefs": [{"name": "gateway"}], "hostnames": ["ops.example.com"]},
    "verticalPodAutoscaler": {"enabled": True, "minAllowed": {"memory": "64Mi"}, "maxAllowed": {"memory": "1Gi"}},
    "serviceMonitor": {
        "enabled": True,
        "namespace": "prometheus",
        "labels": {"release": "prometheus"},
        "interval": "30s",
        "scrapeTimeout": "10s",
        "tlsConfig": {"insecureSkipVerify": True},
        "basicAuth": {"username": {"name": "web", "key": "user"}, "password": {"name": "web", "key": "password"}},
        "relabelings": [{"action": "labeldrop", "regex": "pod"}],
        "metricRelabelings": [{"sourceLabels": ["__name__"], "regex": "python_.*", "action": "drop"}],
        "sampleLimit": 2_000_000,
        "labelLimit": 40,
        "jobLabel": "app.kubernetes.io/name",
        "targetLabels": ["team"],
        "podTargetLabels": ["team"],
    },
    "podMonitor": {"enabled": True, "scheme": "https", "sampleLimit": 5000, "podTargetLabels": ["team"]},
    "kubernetesDiscovery": {"enabled": True, "namespaces": ["shop", "mail"]},
    "rbac": {"annotations": {"a": "b"}},
    "probe": {
        "enabled": True,
        "namespace": "prometheus",
        "labels": {"release": "prometheus"},
        "targetLabels": {"team": "edge"},
        "tlsConfig": {"insecureSkipVerify": True},
        "basicAuth": {"username": {"name": "web", "key": "user"}, "password": {"name": "web", "key": "password"}},
        "relabelings": [{"sourceLabels": ["instance"], "targetLabel": "target"}],
        "metricRelabelings": [{"sourceLabels": ["__name__"], "regex": "python_.*", "action": "drop"}],
        "sampleLimit": 2_000_000,
        "labelLimit": 40,
    },
    "podMonitoring": {"enabled": True, "timeout": "10s", "metricRelabeling": [{"action": "drop", "regex": "a"}]},
    "prometheusRule": {
        "enabled": True,
        "labels": {"release": "prometheus"},
        "runbookUrl": "https://wiki.example.com/tlsprobe/",
        "extraLabels": {"team": "edge"},
        "extraGroups": [{"name": "own", "rules": [{"record": "a:b:sum", "expr": "sum(up)"}]}],
    },
    "dashboards": {"enabled": True, "folder": "TLS"},
}

CASES = MappingProxyType(
    {
        "as it is": {},
        "everything at once": EVERYTHING,
        "a daemon on each node": {"kind": "DaemonSet", "config": TARGETS, "strategy": {"type": "RollingUpdate"}},
        "replicas with a volume each": {
            "kind": "StatefulSet",
            "replicas": 2,
            "config": TARGETS,
            "persistence": {"enabled": True, "storageClassName": "fast", "annotations": {"a": "b"}},
        },
        "shards": {"kind": "StatefulSet", "replicas": 3, "sharded": True, "config": TARGETS, "configReload": True},
        "one with a volume": {"config": TARGETS, "persistence": {"enabled": True}},
        "one with a claim": {"config": TARGETS, "persistence": {"enabled": True, "existingClaim": "mine"}},
        "a secret of its own": {"config": TARGETS, "secretConfig": True},
        "somebody's secret": {"existingSecret": "mine"},
        "somebody's ConfigMap": {"existingConfigMap": "mine"},
        "a text": {"config": "targets: [{name: shop, address: shop.example.com}]  # ours\n"},
        "Services": {"config": WATCHED},
        "Services anywhere": {"config": WATCHED, "rbac": {"clusterWide": True}},
        "no service": {"service": {"enabled": False}, "podMonitor": {"enabled": True}},
        "no account": {"serviceAccount": {"create": False}},
        "a budget by share": {"podDisruptionBudget": {"enabled": True, "minAvailable": "50%", "maxUnavailable": None}},
    }
)
