{{- define "gleaner.name" -}}
{{- if contains "gleaner" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-gleaner" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Labels that select the pods of a component. Takes (dict "root" $ "component" "api"). */}}
{{- define "gleaner.selector" -}}
app.kubernetes.io/name: gleaner
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "gleaner.labels" -}}
{{ include "gleaner.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{/* Image reference. Takes (dict "root" $ "image" .Values.worker.image); the parts that are not set are those of .Values.image. */}}
{{- define "gleaner.image" -}}
{{- $image := mergeOverwrite (deepCopy .root.Values.image) .image -}}
image: {{ printf "%s:%s" $image.repository (default .root.Chart.AppVersion $image.tag) | quote }}
imagePullPolicy: {{ $image.pullPolicy }}
{{- end }}

{{/*
Settings of a pod. Takes (dict "root" $ "settings" .Values.api.settings "fixed" dict "secrets" (list "MONGODB_URI")).
"secrets" are the keys of the Secret that the pod gets; without it, all of them.
*/}}
{{- define "gleaner.environment" -}}
{{- $address := dict -}}
{{- with .root.Values.ingress }}{{ if .enabled }}
{{- $address = dict "GLEANER_PUBLIC_URL" (printf "%s://%s" (ternary "http" "https" (empty .tlsSecret)) .host) -}}
{{- end }}{{ end -}}
env:
{{- range $name, $value := mergeOverwrite $address (deepCopy .root.Values.settings) .settings .fixed }}
  - name: {{ $name }}
    value: {{ $value | quote }}
{{- end }}
{{- $secret := .root.Values.existingSecret }}
{{- range .secrets }}
  - name: {{ . }}
    valueFrom:
      secretKeyRef: { name: {{ $secret }}, key: {{ . }}, optional: true }
{{- end }}
{{- if not .secrets }}
envFrom:
  - secretRef:
      name: {{ $secret }}
{{- end }}
{{- end }}

{{/* Secrets of pods without the API: no key of an operator, and no receivers of notifications. */}}
{{- define "gleaner.workerSecrets" -}}
{{ list "MONGODB_URI" "NATS_URL" "GLEANER_S3_URL" "GLEANER_LINK_SECRETS" "OTEL_EXPORTER_OTLP_ENDPOINT" "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT" "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" | join " " }}
{{- end }}

{{/* Fields of every pod. Takes (dict "root" $ "account" "default" "seccompProfile" dict). */}}
{{- define "gleaner.pod" -}}
serviceAccountName: {{ .account }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    {{- toYaml .seccompProfile | nindent 4 }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "gleaner.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* Fields of the containers of the service. */}}
{{- define "gleaner.container" -}}
{{ include "gleaner.containerSecurity" . }}
volumeMounts:
  - name: data
    mountPath: /data
  - name: tmp
    mountPath: /tmp
  - name: origins
    mountPath: /etc/gleaner
    readOnly: true
{{- end }}

{{/* Probes on the operations port: /ready also asks for the database and the queue. */}}
{{- define "gleaner.probes" -}}
startupProbe:
  httpGet:
    path: /health
    port: ops
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet:
    path: /health
    port: ops
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet:
    path: /ready
    port: ops
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}

{{/* Volumes of a pod. Takes (dict "root" $ "size" "1Gi"). */}}
{{- define "gleaner.volumes" -}}
volumes:
  - name: data
    emptyDir:
      sizeLimit: {{ .size }}
  - name: tmp
    emptyDir:
      sizeLimit: 1Gi
  - name: origins
    configMap:
      name: {{ include "gleaner.name" .root }}-origins
{{- end }}
