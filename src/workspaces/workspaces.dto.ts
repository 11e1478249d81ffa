import {
  CLOUD_CHANGES,
  type CloudChange,
  type MemberRequest,
  type Role,
  type RoleRequest,
  type WorkspaceChange,
  type WorkspaceRequest,
} from '@patchbay/protocol';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsEmail,
  IsIn,
  IsInt,
  IsOptional,
  IsUUID,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { FromIntegerText, IsLine } from '../common/request.decorators.js';

const ROLES: Role[] = ['owner', 'member'];

/** Body of `POST /workspaces`. */
export class CreateWorkspaceDto implements WorkspaceRequest {
  @IsLine(1, 256)
  name!: string;
}

/** Query of `GET /workspaces`. */
export class WorkspacesQueryDto {
  @IsOptional()
  @FromIntegerText()
  @IsInt()
  @Min(1)
  @Max(500)
  limit = 100;

  /** `nextCursor` of the previous page. */
  @IsOptional()
  @IsUUID()
  cursor?: string;
}

/** Body of `PUT /workspaces/:workspaceId`; omitted properties stay unchanged. */
export class ChangeWorkspaceDto implements WorkspaceChange {
  @IsOptional()
  @IsLine(1, 256)
  name?: string;

  /** Server tools that change the Cloud and need approval. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(CLOUD_CHANGES.length)
  @IsIn(CLOUD_CHANGES, { each: true, message: `must be of ${CLOUD_CHANGES.join(', ')}` })
  @ArrayUnique({ message: 'must name each tool once' })
  approvals?: CloudChange[];
}

/** Body of `POST /workspaces/:workspaceId/members`. */
export class AddMemberDto implements MemberRequest {
  /** Email of an existing account. */
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
