import { SecretFiles } from './secret-files.js';

describe('SecretFiles', () => {
  /** Paths that are separated by white space. */
  const pathsIn = (text: string) => text.trim().split(/\s+/);

  it.each(
    pathsIn(`
      .env .env.local .env.production .envrc deploy/prod.env packages/api/.env .ENV .Env.Test
      id_rsa keys/id_ed25519 certs/server.pem server.KEY a.p12 a.pfx release.keystore db.kdbx
      .npmrc .netrc _netrc app/.pypirc .aws/credentials .aws/sso/cache/x.json home/.ssh/config
      .git-credentials .docker/config.json .config/gh/hosts.yml terraform.tfstate .cargo/credentials.toml
      .bash_history .kube/config login.keychain-db AuthKey_ABC.p8 .vault-token secring.gpg`),
  )('match %s', (path) => {
    expect(new SecretFiles().keepsOut(path)).toBe(true);
  });

  it.each(
    pathsIn(`
      .env.example .env.sample .env.template .env.local.example api/.env.dist example.env
      src/environment.ts src/env.ts keyboard.ts src/key.ts monkey docs/pem.md a.keys.ts
      .config/app.json .docker/Dockerfile credentials.ts src/history.ts .gitignore x.pem.md`),
  )('do not match %s', (path) => {
    expect(new SecretFiles().keepsOut(path)).toBe(false);
  });

  it('do not match files that the user has included', () => {
    const secrets = new SecretFiles(['.env.test', '/certs/*.pem']);
    const paths = ['.env.test', 'api/.ENV.test', 'certs/a.pem', 'api/certs/a.pem', '.env', 'certs/a.key'];
    expect(paths.map((path) => secrets.keepsOut(path))).toEqual([false, false, false, true, true, true]);
    expect(new SecretFiles(['**']).keepsOut('a/.env')).toBe(false);
  });
});
