import type { EnvReader } from './env-reader.js';

const GIB = 1024 ** 3;
/** More than any machine can store. */
const MAX_BYTES = 100_000 * GIB;

/** The quotas of a workspace, and the lower ones of one user over all workspaces. */
export function quotaSettings(env: EnvReader) {
  env.section('Quotas');
  const pair = (name: string, ofWorkspace: number, ofUser: number, noun: string): [number, number] => {
    const variables = { workspace: `PATCHBAY_MAX_${name}`, user: `PATCHBAY_MAX_USER_${name}` };
    const meaning = `${noun}, per workspace.`;
    const workspaceLimit = env.integer(variables.workspace, {
      default: ofWorkspace,
      min: 2,
      max: MAX_BYTES,
      meaning,
    });
    const userMeaning = `${noun}, per user over all workspaces. Must be below ${variables.workspace}.`;
    const userLimit = env.integer(variables.user, {
      default: ofUser,
      min: 1,
      max: MAX_BYTES,
      meaning: userMeaning,
    });
    if (userLimit >= workspaceLimit)
      env.faults.push(`${variables.user} must be below ${variables.workspace}`);
    return [workspaceLimit, userLimit];
  };
  const bytes = 'Bytes of file contents, versions included';
  const [maxStoredBytes, maxUserStoredBytes] = pair('STORED_BYTES', 10 * GIB, 5 * GIB, bytes);
  const [maxFiles, maxUserFiles] = pair('FILES', 200_000, 150_000, 'Files and folders');
  const versions = 'Versions of files, deleted files included';
  const [maxVersions, maxUserVersions] = pair('VERSIONS', 2_000_000, 1_000_000, versions);
  return {
    ...{ maxStoredBytes, maxUserStoredBytes, maxFiles, maxUserFiles },
    ...{ maxVersions, maxUserVersions },
    maxMembers: env.integer('PATCHBAY_MAX_MEMBERS', {
      ...{ default: 1000, min: 1, max: 100_000, meaning: 'Members per workspace.' },
    }),
    maxUserWorkspaces: env.integer('PATCHBAY_MAX_USER_WORKSPACES', {
      ...{
        default: 100,
        min: 1,
        max: 1_000_000,
        meaning: 'Workspaces that a user created and is a member of.',
      },
    }),
    maxMakerMemberships: env.integer('PATCHBAY_MAX_MAKER_MEMBERSHIPS', {
      ...{ default: 100, min: 1, max: 1_000_000 },
      meaning: 'Workspaces of one creator that another user can be a member of.',
    }),
  };
}
