import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { ClientPresence, User } from '@patchbay/protocol';
import { Access, CurrentUser, WorkspaceId } from '../common/access.js';
import { isoTime } from '../common/clock.js';
import { Route } from '../common/route.js';
import type { KnownClient } from './known-client.js';
import { Presence } from './presence.js';

@Controller('workspaces/:workspaceId/clients')
@ApiTags('workspaces')
@Access('member')
export class ClientsController {
  constructor(private readonly presence: Presence) {}

  /** Lists the caller's clients on all servers: connected ones, then the last to disconnect; 100 at most. */
  @Get()
  @Route<{ 200: { clients: ClientPresence[] } }>({ id: 'listClients' })
  async ofCaller(
    @WorkspaceId() workspaceId: string,
    @CurrentUser() user: User,
  ): Promise<{ clients: ClientPresence[] }> {
    return { clients: (await this.presence.ofUser(workspaceId, user.id)).map(clientView) };
  }
}

function clientView({ clientId, name, roots, connectedAt, leftAt }: KnownClient): ClientPresence {
  const connected = leftAt === null;
  const since = isoTime(leftAt ?? connectedAt);
  return { clientId, name, connected, since, roots: roots.map((root) => root.name) };
}
