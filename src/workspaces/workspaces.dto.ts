import type { MemberRequest, Role, RoleRequest, WorkspaceRequest } from '@patchbay/protocol';
import { IsEmail, IsIn, MaxLength } from 'class-validator';
import { IsLine } from '../common/request-envelope.decorators.js';

const ROLES: Role[] = ['owner', 'member'];

/** Body of `POST /workspaces`. */
export class CreateWorkspaceDto implements WorkspaceRequest {
  @IsLine(1, 256)
  name!: string;
}

/** Body of `POST /workspaces/:workspaceId/members`. */
export class AddMemberDto implements MemberRequest {
  /** Of someone who has an account. */
  @IsEmail({ require_tld: false, ignore_max_length: true })
  @MaxLength(256)
  email!: string;

  @IsIn(ROLES)
  role!: Role;
}

/** Body of `PUT /workspaces/:workspaceId/members/:userId`. */
export class SetRoleDto implements RoleRequest {
  @IsIn(ROLES)
  role!: Role;
}
