package build

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// kubeFiles are two kubeconfig files: the one of the user, in which production is current, and another.
const kubeFiles = "\n" + testHome + `/.kube/config: current-context: production\ncontexts:\n- {name: production, context: {cluster: big, user: admin, namespace: shop}}\n- {name: staging, context: {cluster: small, user: dev}}\nclusters:\n- {name: big, cluster: {server: "https://prod.test:6443"}}\n- {name: small, cluster: {server: "https://stage.test", proxy-url: "http://p.test:8080"}}\nusers:\n- {name: admin, user: {token: hunter2hunter2}}
` + testWS + `/other.yaml: {"current-context": "lab", "contexts": [{"name": "lab", "context": {"cluster": "l", "user": "u"}}, {"name": "staging", "context": {"cluster": "x"}}], "clusters": [{"name": "l", "cluster": {"server": "https://LAB.test"}}]}
` + testWS + `/empty.yaml: {}
` + testWS + `/broken.yaml: contexts: [
` + testWS + `/use.sh: export KUBECONFIG=other.yaml\nkubectl get pods
`

func TestKube(t *testing.T) {
	t.Parallel()
	layout := testLayout()
	layout.YAML = yaml.Unmarshal
	b := NewBuilder(layout, newMemFS(machine+kubeFiles), fakeHistory{})
	const (
		production = "production big prod.test shop admin"
		staging    = "staging small stage.test default dev"
		lab        = "lab l lab.test default u"
		unknown    = "? ? ? ? ?"
	)
	for text, want := range map[string]string{
		"ls": "", "echo kubectl": "", "kubectx staging": "",
		"kubectl get pods":                        production,
		"oc get pods":                             production,
		"k get pods":                              production,
		"kubectl.exe get pods":                    production,
		"alias k=kubectl; k get pods":             production + "; " + production + "; " + production,
		"helm list":                               production,
		"kubectl --context staging get pods":      staging,
		"kubectl get pods --context=staging -n x": "staging small stage.test x dev",
		"kubectl --context staging get --context production x": production,
		`kubectl --context "" get x`:                           production,
		"kubectl get x --context nowhere":                      "nowhere ? ? ? ?",
		"kubectl delete ns x -- --context staging":             production,
		"kubectl exec pod --context staging -- ls --context x": staging,
		"kubectl exec pod -it --context staging -- ls":         staging,
		"kubectl logs -f --context=staging pod":                staging,
		"kubectl --weird --context staging get x":              unknown,
		"helm --kube-context staging list":                     staging,
		"HELM_KUBECONTEXT=staging helm list":                   staging,
		"HELM_NAMESPACE=x helm list":                           "production big prod.test x admin",
		"HELM_NAMESPACE=x helm -n y list":                      "production big prod.test y admin",
		"HELM_NAMESPACE=x kubectl get pods":                    production,
		"kubectl get pods -n=x":                                "production big prod.test x admin",
		"kubectl get pods -nx":                                 "production big prod.test x admin",
		"kubectl get pods -A":                                  "production big prod.test * admin",
		"kubectl get pods -A=false":                            production,
		"kubectl apply -f x.yaml":                              "production big prod.test ? admin",
		"kubectl apply -f x.yaml -n x":                         "production big prod.test x admin",
		"kubectl --as root get x":                              "production big prod.test shop ?",
		"kubectl --user dev get x":                             "production big prod.test shop dev",
		"kubectl --cluster small get x":                        "production small stage.test shop admin",
		"kubectl -s https://other.test:1 get x":                "production big other.test shop admin",
		"stern web":                                            "production big prod.test ? admin",
		"stern -n x web":                                       "production big prod.test x admin",

		"kubectl --kubeconfig other.yaml get x":                                               lab,
		"KUBECONFIG=other.yaml kubectl get x":                                                 lab,
		"KUBECONFIG=other.yaml:" + testHome + "/.kube/config kubectl --context staging get x": "staging x ? default ",
		"KUBECONFIG=none.yaml:other.yaml kubectl get x":                                       lab,
		"KUBECONFIG=empty.yaml:other.yaml kubectl get x":                                      lab,
		"KUBECONFIG=empty.yaml kubectl get x":                                                 unknown,
		"KUBECONFIG=broken.yaml kubectl get x":                                                unknown,
		"KUBECONFIG=none.yaml kubectl get x":                                                  unknown,
		"kubectl --kubeconfig none.yaml get x":                                                unknown,
		"env KUBECONFIG=other.yaml kubectl get x":                                             lab,
		"env -u HOME kubectl get x":                                                           unknown,
		"export KUBECONFIG=other.yaml; kubectl get x":                                         lab,
		"export KUBECONFIG=other.yaml\nkubectl get x":                                         lab,
		"export KUBECONFIG=other.yaml && kubectl get x":                                       lab,
		"false && export KUBECONFIG=other.yaml; kubectl get":                                  unknown,
		"(export KUBECONFIG=other.yaml); kubectl get x":                                       unknown,
		"KUBECONFIG=other.yaml; kubectl get x":                                                unknown, // not exported
		"KUBECONFIG=other.yaml true; kubectl get x":                                           production,
		"KUBECONFIG=$(cat f) kubectl get x":                                                   unknown,
		"KUBECONFIG=$(cat f) kubectl --context staging -n x get x":                            "staging ? ? x ?",
		"bash -c 'KUBECONFIG=other.yaml kubectl get x'":                                       lab,
		"bash use.sh":                   unknown,
		"HOME=/elsewhere kubectl get x": unknown,
		"sudo kubectl get x":            unknown,
		"ssh h kubectl get x":           unknown,
		"cd /nowhere; kubectl get x":    production + "; " + production,

		"C=staging; kubectl --context $C get x":                         staging,
		`kubectl --context "$(cat f)" get x`:                            "? ? ? ? ?",
		`kubectl get x "$(cat f)"`:                                      unknown,
		`kubectl get x -l "app=$(cat f)"`:                               production,
		`kubectl get x -l app=$(cat f)`:                                 unknown,
		`kubectl get "x$(cat f)"`:                                       production,
		"echo --context=staging | xargs kubectl get x":                  staging,
		"kubectl get *":                                                 unknown,
		"kubectl config use-context staging && kubectl get x":           production + "; " + staging,
		"kubectl config use-context staging; kubectl get x":             production + "; " + production + "; " + staging,
		"kubectl config use-context $(cat f) && kubectl get x":          unknown + "; " + production + "; " + unknown,
		"true || kubectl config use-context staging && kubectl get x":   production + "; " + production + "; " + staging,
		"kubectx staging && kubectl get x":                              staging,
		"kubectl config use-context nowhere && kubectl get x":           production + "; " + production + "; " + unknown,
		"kubectl config set-context --current --namespace=x; helm list": "production big prod.test x admin; " + production + "; " + unknown,
		"cp other.yaml ~/.kube/config; kubectl get x":                   production + "; " + unknown,
		"./unknown.sh; kubectl get x":                                   production + "; " + unknown,
		"./unknown.sh; kubectl --context staging -n x get x":            "staging small stage.test x dev; staging ? ? x ?",
		"aws eks update-kubeconfig --name x; kubectl get x":             production + "; " + unknown,
		"make; kubectl get x":                                           production,
	} {
		in := b.Build(testAsk(text))
		var got []string
		for _, c := range in.Commands {
			for _, k := range c.Kube {
				var words []string
				for _, v := range []facts.KubeValue{k.Context, k.Cluster, k.Server, k.Namespace, k.User} {
					if v.Certainty != "exact" {
						v.Value = "?"
					}
					words = append(words, v.Value)
				}
				got = append(got, strings.Join(words, " "))
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", text, diff)
		}
	}
}
