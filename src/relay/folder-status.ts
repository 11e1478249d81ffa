import { docPathFault, type FolderStatus } from '@patchbay/protocol';
import type { ConnectedClient } from '../clients/connected-clients.js';
import { fieldError, type FieldFaults, throwIfAny } from '../common/domain-error.js';
import type { FolderStatusDto } from './relay.dto.js';

/** Checks a folder status. VALIDATION_ERROR if the folder is not the client's own, or a file is outside it. */
export function checkStatus(client: ConnectedClient, status: FolderStatusDto): FolderStatus {
  const { docPath, conflicts, behind, more } = status;
  if (!client.hasRoots([docPath]))
    throw fieldError('docPath', 'is of no folder that this client has announced');
  const fields: FieldFaults = {};
  for (const [list, files] of Object.entries({ conflicts, behind })) {
    const at = files.findIndex((file) => !file.startsWith(`${docPath}/`) || docPathFault(file) !== null);
    if (at !== -1) fields[`${list}[${at}]`] = docPathFault(files[at]!) ?? `must begin with "${docPath}/"`;
  }
  throwIfAny(fields);
  return { docPath, conflicts, behind, more };
}
