import { foldCase } from '@patchbay/protocol';
import ignore from 'ignore';

/**
 * What a project usually keeps to itself, whether .gitignore says so or not: as of what scanners of repositories look
 * for by name. Patterns as in .gitignore; a later one that begins with `!` takes back.
 */
const SECRETS = [
  // Settings with credentials, and the templates of them that are meant to be shared.
  ...['.env*', '*.env', '!.env*.example', '!.env*.sample', '!.env*.template', '!.env*.dist'],
  ...['!example.env', '!sample.env', '!template.env'],
  // Private keys and key stores.
  ...['id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*', '*.pem', '*.key', '*.ppk', '*.p8', '*.p12', '*.pfx'],
  ...['*.pkcs12', '*.keystore', '*.jks', '*.kdb', '*.kdbx', '*.keychain*', '*.agilekeychain', '*.keytab'],
  ...['*.ovpn', 'secring.*', '.ssh/', '.gnupg/'],
  // Logins of tools.
  ...['.netrc', '_netrc', '.npmrc', '.yarnrc.yml', '.pypirc', '.git-credentials', '.htpasswd', '.pgpass'],
  ...['.my.cnf', '.s3cfg', '.dockercfg', '.docker/config.json', '.aws/', '.azure/', '.kube/', '.boto'],
  ...[
    '.config/gcloud/',
    '.config/gh/',
    '.gem/credentials',
    '.cargo/credentials*',
    '.terraformrc',
    '.vault-token',
  ],
  ...['application_default_credentials.json', 'credentials.tfrc.json', '*.tfstate', '*.tfstate.backup'],
  // Histories of shells.
  ...['.bash_history', '.zsh_history', '.psql_history', '.mysql_history'],
];

/** Something that each of these names has in it, for the many paths that are plainly none of them. */
const HINT =
  /\.env|id_(?:rsa|dsa|ecdsa|ed25519)|\.(?:pem|key|ppk|p8|p12|pfx|pkcs12|jks|kdb|tfstate|ovpn|agile)|secring|\.ssh|\.gnupg|netrc|\.npmrc|\.yarnrc|\.pypirc|\.git-c|\.htpass|\.pgpass|\.my\.cnf|\.s3cfg|\.docker|\.aws|\.azure|\.kube|\.boto|\.config|\.gem\/|\.cargo|\.terraform|\.vault|credentials|_history/;

/**
 * Files that hold secrets as a rule, by their names: what the folder has of them goes nowhere by itself, neither with a
 * push nor to a model that asks to read it, unless the person has said so.
 */
export class SecretFiles {
  private readonly secrets = ignore().add(SECRETS);
  private readonly included: ReturnType<typeof ignore> | null;

  /** @param included patterns, as in .gitignore, of those that are meant to be sent all the same */
  constructor(included: readonly string[] = []) {
    this.included = included.length > 0 ? ignore().add([...included]) : null;
  }

  /** Whether the file at a relative path, with forward slashes, is kept out. Case makes no difference. */
  keepsOut(path: string): boolean {
    const folded = foldCase(path);
    if (!HINT.test(folded) || !ignore.isPathValid(folded)) return false;
    return this.secrets.ignores(folded) && this.included?.ignores(folded) !== true;
  }
}

/** Where a client says nothing else: all that may be one. */
export const ALL_SECRETS = new SecretFiles();
