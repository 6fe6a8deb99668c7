package redact

// format is a kind of token that is known by its form alone. Patterns stand at one of the words.
type format struct {
	name    string
	words   []string
	pattern string
}

// formats are from the documentation of those who issue the tokens. Lengths are lower bounds, so
// that a format that grows is still found.
var formats = []format{
	{"private-key", []string{"-----begin"}, `-----BEGIN (?:[A-Z0-9 ]+ )?PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`},
	{"aws", []string{"akia", "asia", "abia", "acca"}, `A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}\b`},
	{"github", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, `gh[pousr]_[A-Za-z0-9_]{20,}`},
	{"github", []string{"github_pat_"}, `github_pat_[A-Za-z0-9_]{20,}`},
	{"gitlab", []string{"glpat-", "gloas-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-"}, `gl[a-z]{2,5}-[A-Za-z0-9_.-]{20,}`},
	{"slack", []string{"xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xapp-"}, `xox[a-z][-.][A-Za-z0-9%/+.-]{10,}|xapp-[A-Za-z0-9-]{10,}`},
	{"slack", []string{"hooks.slack.com/"}, `hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}`},
	{"anthropic", []string{"sk-ant-"}, `sk-ant-[A-Za-z0-9_-]{20,}`},
	{"openai", []string{"sk-"}, `sk-[A-Za-z0-9_-]{20,512}`},
	{"google", []string{"aiza"}, `AIza[A-Za-z0-9_-]{35}`},
	{"google", []string{"ya29."}, `ya29\.[A-Za-z0-9_-]{20,}`},
	{"google", []string{"gocspx-"}, `GOCSPX-[A-Za-z0-9_-]{20,}`},
	{"stripe", []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"}, `(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9+/=]{16,}`},
	{"npm", []string{"npm_"}, `npm_[A-Za-z0-9]{30,}`},
	{"pypi", []string{"pypi-"}, `pypi-[A-Za-z0-9_-]{40,}`},
	{"huggingface", []string{"hf_"}, `hf_[A-Za-z0-9]{30,}`},
	{"sendgrid", []string{"sg."}, `SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`},
	{"digitalocean", []string{"dop_v1_", "doo_v1_", "dor_v1_"}, `do[opr]_v1_[a-f0-9]{40,}`},
	{"shopify", []string{"shpat_", "shpca_", "shppa_", "shpss_"}, `shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}`},
	{"vault", []string{"hvs.", "hvb.", "hvr."}, `hv[sbr]\.[A-Za-z0-9_-]{20,}`},
	{"grafana", []string{"glsa_", "glc_"}, `gl(?:sa|c)_[A-Za-z0-9_=]{20,}`},
	{"linear", []string{"lin_api_"}, `lin_api_[A-Za-z0-9]{20,}`},
	{"databricks", []string{"dapi"}, `dapi[a-f0-9]{32}`},
	{"terraform", []string{".atlasv1."}, `\.atlasv1\.[A-Za-z0-9_=-]{40,}`},
	{"doppler", []string{"dp.pt.", "dp.st.", "dp.ct.", "dp.sa."}, `dp\.(?:pt|st|ct|sa)\.(?:[a-z0-9_-]+\.)?[A-Za-z0-9]{30,}`},
	{"age", []string{"age-secret-key-1"}, `(?i)AGE-SECRET-KEY-1[0-9A-Z]{40,}`},
	{"signer-key", []string{"private+key+"}, `PRIVATE\+KEY\+[^+\s]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]{30,}`},
	{"jwt", []string{"eyj"}, `eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`},
	{"azure", []string{"accountkey=", "sharedaccesskey="}, `(?i)(?:Account|SharedAccess)Key=[A-Za-z0-9+/]{20,}={0,2}`},
}
