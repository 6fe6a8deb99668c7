package facts

import (
	"path"
	"slices"
	"strings"
)

// storePorts are the ports at which data stores are managed over HTTP, by their own documentation:
// etcd, CouchDB, Qdrant, Meilisearch, Typesense, InfluxDB, ClickHouse, Consul, ArangoDB, Solr,
// Elasticsearch and OpenSearch.
var storePorts = []string{"2379", "5984", "6333", "7700", "8108", "8086", "8123", "8500", "8529", "8983", "9200"}

// storedItems are names in a URL of these below which there is one item, not a collection of them.
var storedItems = []string{"_doc", "documents", "points", "_search", "scroll"}

// request adds what an HTTP request asks of a server by its method and its URL.
func (c *call) request(method string, urls []string) {
	for _, url := range urls {
		host, rest := splitURL(url)
		last := strings.ToLower(path.Base(rest))
		switch strings.ToUpper(method) {
		case "DELETE":
			c.flags.add(flagHTTPDelete)
			_, port, _ := strings.Cut(host, ":")
			names := strings.Split(rest, "/")
			one := slices.ContainsFunc(names, func(name string) bool { return slices.Contains(storedItems, name) })
			if slices.Contains(storePorts, port) && !one {
				c.destroys()
			}
		case "POST":
			if destroysBy(last) || destroysBy(strings.TrimPrefix(last, "do")) || strings.HasPrefix(last, "_delete") {
				c.flags.add(flagHTTPDelete)
			}
		}
	}
}

// splitURL returns host[:port] and path of a URL, without its query.
func splitURL(url string) (host, rest string) {
	if _, after, ok := strings.Cut(url, "://"); ok {
		url = after
	}
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	host, rest, _ = strings.Cut(url, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	return host, strings.TrimSuffix(rest, "/")
}
