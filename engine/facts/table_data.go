package facts

// dataRows: databases and what keeps data.
var dataRows = []row{
	{cmd: "dropdb dropuser pg_resetwal", does: "delete destroys_data", args: "-", opts: "-h --host =host; -p =-; -U =-; -f --force > force; -i --interactive > interactive"},
	{cmd: "psql pgcli", does: "network", args: "-", hook: sql, opts: "-c --command =-; -f --file =read; -h --host =host; -p --port =-; -U --username =-; -d --dbname =-; -o --output =write; -L --log-file =write; -v --set --variable =-; -P --pset =-; -F -R =-; -T =-"},
	{cmd: "mysql mariadb mycli", does: "network", args: "-", hook: sql, opts: "-e --execute =-; -h --host =host; -P --port =-; -u --user =-; -p --password =?-; -D --database =-; -S --socket =-; --defaults-file --defaults-extra-file =key; --tee =write; --default-character-set --ssl-ca --protocol =-"},
	{cmd: "mysqladmin mariadb-admin", does: "network", args: "-", hook: mysqladmin, opts: "-h --host =host; -u --user =-; -p --password =?-; -P --port =-; -S --socket =-; -f --force > force"},
	{cmd: "sqlite3 sqlite duckdb litecli", does: "read write", args: "edit,-", hook: sql, opts: "-init =read; -cmd -c =-; -separator -nullvalue =-", style: styleLong},
	{cmd: "mongo mongosh", does: "network", args: "-", hook: sql, opts: "--eval =-; --host =host; --port =-; -u --username =-; -p --password =-; --authenticationDatabase =-; -f --file =read"},
	{cmd: "redis-cli valkey-cli keydb-cli", does: "network", args: "-", hook: redis, opts: "-h =host; -p =-; -a --pass =-; -n =-; -u =-; --user =-; -s =-; --eval =read; -r -i =-; --pattern =-; --rdb =write"},
	{cmd: "cqlsh clickhouse-client clickhouse influx cypher-shell sqlcmd osql isql bcp snowsql trino presto beeline hive impala-shell spark-sql usql dolt surreal arangosh couchbase-cli couchdb neo4j-admin cockroach tsql sqlplus ysqlsh vsql mssql-cli questdb memcached-tool mongoimport", does: "network", args: "-", hook: sql, opts: "-e -q -c -Q --query --execute =-; -h --host -S =host; -u --user -U =-; -p --password -P =-; -d --database =-; -f -i --file =read; -o =write"},
	{cmd: "pg_dump pg_dumpall mysqldump mariadb-dump mongodump mongoexport pg_basebackup mysqlpump mydumper xtrabackup mariabackup", does: "network read", args: "-", opts: "-f --file -r --result-file -o --out =write; -h --host =host; -U -u --username --user =-; -p --password =?-; -d --dbname --db --databases =-; -P --port =-; -F --format =-; -t --table =-; -n --schema =-"},
	{cmd: "pg_restore mongorestore myloader", does: "network write", args: "read", opts: "-d --dbname --db =-; -h --host =host; -U --username =-; -p --port =-; -c --clean --drop > destroys_data; -j --jobs =-"},
	{cmd: "createdb createuser initdb pg_ctl pg_isready pg_ctlcluster pg_lsclusters mysql_install_db mysqld mysqld_safe mariadbd mongod redis-server postgres memcached clickhouse-server minio elasticsearch kibana logstash influxd nats-server rabbitmq-server etcd zookeeper kafka-server-start vacuumdb reindexdb clusterdb pgbench mysqlcheck mysqlimport mysqlshow mysql_secure_installation pg_upgrade", does: "execute", args: "auto", opts: "-D --pgdata =write; -h --host =-; -U --username =-; -p --port =-; -d =-"},
	{cmd: "pg_dropcluster", does: "delete destroys_data", args: "-"},
	{cmd: "nginx apachectl apache2ctl httpd apache2 caddy haproxy traefik envoy lighttpd varnishd squid uwsgi php-fpm named dnsmasq postfix dovecot sshd vsftpd proftpd smbd nmbd slapd cupsd exim4 snmpd rsyncd", does: "network listens execute", args: "-", hook: serverTest, opts: "-c -f --config =key; -s =- > service_control; -g =-; -p =-"},
}

// secretRows: encryption, key stores and what prints secrets.
var secretRows = []row{
	{cmd: "gpg gpg2", does: "read", args: "auto", hook: gpg, opts: "-o --output =write; -d --decrypt > decodes; --export-secret-keys --export-secret-subkeys =?- > prints_secret; --delete-secret-keys --delete-secret-and-public-key > destroys_data; --recv-keys --search-keys --refresh-keys > network; --send-keys > network uploads publishes; --keyserver =host; -r --recipient =-; -u --local-user =-; --passphrase =-; --passphrase-file =read; --homedir =read; --import =read; --export; --cipher-algo --s2k-mode --trust-model --pinentry-mode --status-fd --passphrase-fd =-"},
	{cmd: "gpgconf gpg-agent gpg-connect-agent gpgv gpgsm gpg-wks-client pinentry dirmngr", does: "process", args: "auto"},
	{cmd: "openssl libressl", does: "read", style: styleNone, hook: openssl},
	{cmd: "age rage", does: "read", args: "read", opts: "-o --output =write; -i --identity =key; -r --recipient =-; -R --recipients-file =read; -d --decrypt > decodes"},
	{cmd: "age-keygen minisign signify ssh-keysign certtool certutil cfssl cfssljson mkcert step step-ca certbot acme.sh lego easyrsa easy-rsa pk12util pkcs11-tool", does: "read write", args: "auto", opts: "-o =write; -s =key; -p =read; -m =-"},
	{cmd: "ccrypt mcrypt bcrypt aescrypt encfs gocryptfs veracrypt tomb", does: "read write", args: "auto"},
	{cmd: "sops", does: "read", args: "read", opts: "-d --decrypt > decodes prints_secret; -i --in-place > in_place write; --output =write; --input-type --output-type --age --kms --pgp --set --extract --config =-"},
	{cmd: "pass gopass", does: "prints_secret", args: "-", hook: secretStore},
	{cmd: "security", sub: "find-generic-password,find-internet-password,dump-keychain,export,find-identity,find-key", does: "prints_secret", args: "-", opts: "-s -a -l -D =-"},
	{cmd: "security", sub: "add-generic-password,add-internet-password,delete-generic-password,delete-internet-password,delete-keychain,set-key-partition-list,unlock-keychain,add-trusted-cert,import,list-keychains,default-keychain,authorizationdb,create-keychain,find-certificate,show-keychain-info,lock-keychain,verify-cert,cms", does: "system", args: "-"},
	{cmd: "keyctl", sub: "read,print,pipe", does: "prints_secret", args: "-"},
	{cmd: "keyctl", sub: "clear,purge,reap,invalidate,revoke,unlink", does: "destroys_data", args: "-"},
	{cmd: "keyctl", sub: "show,list,rlist,describe,rdescribe,search,request,request2,session,add,padd,update,link,timeout,setperm,new,id,security", does: "system", args: "-"},
	{cmd: "secret-tool keyring kwallet-query kwalletcli lpass bw rbw 1password bitwarden dashlane-cli nordpass keepassxc-cli kpcli aws-vault saml2aws gimme-aws-creds mimikatz lazagne", does: "prints_secret", args: "-", hook: secretStore, opts: "-l --list-entries --show-protected; -f --folder =-"},
	{cmd: "john hashcat unshadow cewl crunch aircrack-ng airmon-ng fcrackzip pdfcrack cupp responder impacket-secretsdump secretsdump.py msfconsole msfvenom metasploit setoolkit beef empire", does: "read execute", args: "auto", opts: "-w --wordlist =read"},
}
