import { foldCase } from '@patchbay/protocol';
import ignore from 'ignore';

/**
 * Files that usually hold secrets, from the names that secret scanners look for. Patterns as in .gitignore; a later
 * pattern with `!` takes a name out again.
 */
const SECRETS = [
  // Settings with credentials, except templates that are meant to be shared.
  ...['.env*', '*.env', '!.env*.example', '!.env*.sample', '!.env*.template', '!.env*.dist'],
  ...['!example.env', '!sample.env', '!template.env'],
  ...['id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*', '*.pem', '*.key', '*.ppk', '*.p8', '*.p12', '*.pfx'],
  ...['*.pkcs12', '*.keystore', '*.jks', '*.kdb', '*.kdbx', '*.keychain*', '*.agilekeychain', '*.keytab'],
  ...['*.ovpn', 'secring.*', '.ssh/', '.gnupg/'],
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
  ...['.bash_history', '.zsh_history', '.psql_history', '.mysql_history'],
];

/** A cheap first test. It matches a part of each name above, so that most paths skip the slow patterns. */
const HINT =
  /\.env|id_(?:rsa|dsa|ecdsa|ed25519)|\.(?:pem|key|ppk|p8|p12|pfx|pkcs12|jks|kdb|tfstate|ovpn|agile)|secring|\.ssh|\.gnupg|netrc|\.npmrc|\.yarnrc|\.pypirc|\.git-c|\.htpass|\.pgpass|\.my\.cnf|\.s3cfg|\.docker|\.aws|\.azure|\.kube|\.boto|\.config|\.gem\/|\.cargo|\.terraform|\.vault|credentials|_history/;

/**
 * Files that usually hold secrets, by name. Their content is neither pushed nor given to a model unless the user
 * allows it.
 */
export class SecretFiles {
  private readonly secrets = ignore().add(SECRETS);
  private readonly included: ReturnType<typeof ignore> | null;

  /** @param included .gitignore patterns of files that may be sent although they match */
  constructor(included: readonly string[] = []) {
    this.included = included.length > 0 ? ignore().add([...included]) : null;
  }

  /** Whether the file must stay local. `path` is relative with forward slashes; case does not matter. */
  keepsOut(path: string): boolean {
    const folded = foldCase(path);
    if (!HINT.test(folded) || !ignore.isPathValid(folded)) return false;
    return this.secrets.ignores(folded) && this.included?.ignores(folded) !== true;
  }
}

/** The default: no file that may hold secrets is sent. */
export const ALL_SECRETS = new SecretFiles();
