package inline

import "testing"

func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	for lang, cases := range map[string][]scanCase{
		"perl": {
			{"glob", `unlink glob "~/*"; unlink glob("$ENV{HOME}/*");`, []string{"delete {~/*}", "delete {~/*}"}},
			{"angle", `unlink <~/*>; my @f = </srv/*.db>; unlink @f;`, []string{"delete {~/*}", "delete {/srv/*.db}"}},
			{"no angle", `while (<STDIN>) { print } if ($a < 5 and $b*2 > 3) { print <$fh> }`, nil},
			{"topic", `unlink for glob "/srv/*"; unlink $_ for </opt/*>; for (glob "/a/*") { unlink $_ } for my $f (</b/*>) { unlink $f }`, []string{"delete {/srv/*} {/opt/*} {/a/*}", "delete {/srv/*} {/opt/*} {/a/*}", "delete {/srv/*} {/opt/*} {/a/*}", "delete {/b/*}"}},
			{"map", `map { unlink } </srv/*>`, []string{"delete {/srv/*}"}},
			{"map of an expression", `map unlink, </srv/*>`, []string{"delete {/srv/*}"}},
			{"readdir", `opendir D, "/srv"; unlink "/srv/$_" for readdir D`, []string{"delete {/srv/*}"}},
			{"find", `use File::Find; find(sub { unlink }, "/srv")`, []string{"delete {/srv/*} recursive"}},
			{"find by full name", `use File::Find; finddepth(sub { unlink $File::Find::name }, "/srv")`, []string{"delete {/srv/*} recursive"}},
			{"changed topic", `$_ = "id"; tr/a-z/n-za-m/; system $_`, []string{"shell [id]", "shell […]"}},
		},
		"ruby": {
			{"splat", `File.delete(*Dir["/srv/*"]); File.delete(*Dir.glob("/srv/*.db"))`, []string{"delete {/srv/*}", "delete {/srv/*.db}"}},
			{"block", `Dir.glob("/srv/*") { |f| File.unlink f }`, []string{"delete {/srv/*}"}},
			{"each", `Dir["/srv/**/*"].each { |f| File.delete(f) }`, []string{"delete {/srv/*} recursive"}},
			{"home", `Dir["#{Dir.home}/*"].each { |f| File.delete f }`, []string{"delete {~/*}"}},
			{"children", `Dir.each_child("/srv") { |f| File.delete("/srv/#{f}") }`, []string{"delete {/srv/*}"}},
			{"methods", `Dir["/srv/*"].each(&File.method(:delete)); Pathname.glob("/opt/*").each(&:delete)`, []string{"delete {/srv/*}", "delete {/opt/*}"}},
			{"path", `require "pathname"; Pathname.new("/srv").rmtree`, []string{"delete [/srv] recursive"}},
			{"method object", `method(:system).call("id")`, []string{"shell [id]"}},
			{"some of them", `Dir.children("/srv").each { |f| File.delete("/srv/" + f) if f =~ /x/ }`, []string{"delete [/srv/…]"}},
			{"other blocks", `[1, 2].each { |x| puts x }; list.map { |x| x.y }`, nil},
		},
		"node": {
			{"readdir", "const fs=require('fs'); for (const f of fs.readdirSync('/srv')) fs.unlinkSync(`/srv/${f}`)", []string{"delete {/srv/*}"}},
			{"callback", `require("fs").readdirSync("/srv").forEach(f => require("fs").unlinkSync("/srv/" + f))`, []string{"delete {/srv/*}"}},
			{"glob", `require("glob").sync("/srv/*").forEach(function (f) { require("fs").rmSync(f) })`, []string{"delete {/srv/*}"}},
			{"packages", `require("del").sync("/srv/*"); require("shelljs").rm("-rf", "/opt")`, []string{"delete {/srv/*} recursive", "delete [/opt] recursive"}},
			{"other callbacks", `[1].forEach(f => f()); promise.then((x) => x.y)`, nil},
		},
		"php": {
			{"foreach", `foreach (glob("/srv/*") as $f) unlink($f);`, []string{"delete {/srv/*}"}},
			{"array_map", `array_map("unlink", glob("/srv/*"));`, []string{"delete {/srv/*}"}},
			{"closures", `array_map(function ($f) { unlink($f); }, glob("/srv/*"));`, []string{"delete {/srv/*}"}},
			{"walk", `array_walk(glob("/srv/*"), function ($f) { unlink($f); });`, []string{"delete {/srv/*}"}},
			{"scandir", `foreach (scandir("/srv") as $f) unlink("/srv/$f");`, []string{"delete {/srv/*}"}},
		},
		"python": {
			{"home", "import os,glob\n[os.unlink(f) for f in glob.glob(os.path.expanduser('~/*'))]", []string{"delete {~/*}"}},
			{"shell text", "import os,glob\nfor f in glob.glob('/srv/*'): os.system('rm ' + f)", []string{"shell {rm /srv/*}"}},
			{"listdir", "import os\nfor n in os.listdir('/srv'):\n  os.remove('/srv/' + n)", []string{"delete {/srv/*}"}},
			{"rglob", "from pathlib import Path\nfor p in Path.home().rglob('*'):\n  p.unlink()", []string{"delete {~/*} recursive"}},
			{"map", "import os,glob\nlist(map(os.remove, glob.glob('/srv/*')))", []string{"delete {/srv/*}"}},
			{"some of them", "import os\nfor n in os.listdir('/srv'):\n  if n.endswith('.x'):\n    os.remove('/srv/' + n)", []string{"delete [/srv/…]"}},
			{"one name", "import os,glob\nos.remove(glob.glob('/srv/a')[0])", []string{"delete […]"}},
		},
		"r": {
			{"patterns", `unlink("~/*", recursive = TRUE); file.remove(list.files("/srv", full.names = TRUE))`, []string{"delete {~/*} recursive", "delete {/srv/*}"}},
		},
	} {
		t.Run(lang, func(t *testing.T) { runCases(t, lang, cases) })
	}
}
