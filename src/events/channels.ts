import type { Membership } from '../storage/ports/turn.js';
import type { BusMessage } from './messages.js';

/** Audience of a message: one user in a workspace, all clients of a workspace, one node, or every node. */
export type Channel =
  `user/${string}/${string}` | `workspace/${string}` | `node/${string}` | typeof EVERY_NODE;

/** Rare messages for all nodes, such as the end of a login. */
export const EVERY_NODE = 'nodes';

export function userChannel({ workspaceId, userId }: Membership): Channel {
  return `user/${workspaceId}/${userId}`;
}

export function workspaceChannel(workspaceId: string): Channel {
  return `workspace/${workspaceId}`;
}

export function nodeChannel(node: string): Channel {
  return `node/${node}`;
}

/** The one channel that a message is published on. */
export function channelOf(message: BusMessage): Channel {
  switch (message.type) {
    case 'turn_changed':
    case 'client_connected':
    case 'session_opened':
      return userChannel(message);
    case 'files_changed':
    case 'trail_grown':
      return workspaceChannel(message.workspaceId);
    case 'file_wanted':
    case 'file_read':
      return nodeChannel(message.to);
    case 'member_removed':
    case 'login_ended':
      return EVERY_NODE;
  }
}
