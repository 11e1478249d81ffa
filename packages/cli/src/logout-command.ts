import { isTransient } from '@patchbay/client';
import { printableLine } from './approval/printable.js';
import { CliError, EXIT } from './cli-error.js';
import { say } from './say.js';
import { settingsOf, type CliIo, type CommonFlags } from './settings.js';

export interface LogoutFlags extends CommonFlags {
  local?: boolean;
}

/** `patchbay logout`: ends the login at the server, which revokes its tokens, and forgets it here. */
export async function logout({ local, ...flags }: LogoutFlags, io: CliIo): Promise<number> {
  const { url, client, logins } = await settingsOf({ ...flags, token: undefined }, io);
  const login = (await logins.read()).logins[url];
  if (!login) {
    say(io.stdout, `There is no login to ${url}.`);
    return EXIT.ok;
  }
  if (!local) {
    await client.logout().catch((error: unknown) => {
      if (!isTransient(error)) throw error;
      const message = (error as Error).message.replace(/\.?$/, '.');
      const advice =
        'You are still logged in; --local forgets the login here, and leaves it valid at the server.';
      throw new CliError(`${message} ${advice}`, EXIT.unreachable);
    });
  }
  await logins.forget(url);
  const who = `${printableLine(login.email)} is logged out of ${url}`;
  const valid = local ? ' here; the login stays valid at the server until it expires' : '';
  say(io.stdout, `${who}${valid}.`);
  if (io.env.PATCHBAY_TOKEN) say(io.stderr, 'PATCHBAY_TOKEN is still set, so commands keep using it.');
  return EXIT.ok;
}
