import type { EnvReader } from './env-reader.js';

const GIB = 1024 ** 3;
/** More than any machine has. */
const MOST = 100_000 * GIB;

/**
 * What a workspace may have, and what one user may have over all workspaces. The one is above the other, so that no
 * member can use all of a workspace's.
 */
export function quotaSettings(env: EnvReader) {
  env.section('Quotas');
  const pair = (name: string, ofWorkspace: number, ofUser: number, what: string): [number, number] => {
    const variables = { workspace: `PATCHBAY_MAX_${name}`, user: `PATCHBAY_MAX_USER_${name}` };
    const meaning = `${what}: of one workspace.`;
    const all = env.integer(variables.workspace, { default: ofWorkspace, min: 2, max: MOST, meaning });
    const mine = `${what}: of one user in all workspaces; below the one above.`;
    const own = env.integer(variables.user, { default: ofUser, min: 1, max: MOST, meaning: mine });
    if (own >= all) env.faults.push(`${variables.user} must be below ${variables.workspace}`);
    return [all, own];
  };
  const bytes = 'Bytes of contents, versions included';
  const [maxStoredBytes, maxUserStoredBytes] = pair('STORED_BYTES', 10 * GIB, 5 * GIB, bytes);
  const [maxFiles, maxUserFiles] = pair('FILES', 200_000, 150_000, 'Files and folders');
  const versions = 'Versions of files, of deleted ones too';
  const [maxVersions, maxUserVersions] = pair('VERSIONS', 2_000_000, 1_000_000, versions);
  return {
    ...{ maxStoredBytes, maxUserStoredBytes, maxFiles, maxUserFiles },
    ...{ maxVersions, maxUserVersions },
    maxMembers: env.integer('PATCHBAY_MAX_MEMBERS', {
      ...{ default: 1000, min: 1, max: 100_000, meaning: 'Members of one workspace.' },
    }),
    maxUserWorkspaces: env.integer('PATCHBAY_MAX_USER_WORKSPACES', {
      ...{
        default: 100,
        min: 1,
        max: 1_000_000,
        meaning: 'Workspaces that one user may make and be a member of.',
      },
    }),
    maxMakerMemberships: env.integer('PATCHBAY_MAX_MAKER_MEMBERSHIPS', {
      ...{ default: 100, min: 1, max: 1_000_000 },
      meaning:
        'Workspaces that one user made of which another may be a member; those that others made do not count.',
    }),
  };
}
