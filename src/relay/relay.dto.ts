import { applyDecorators } from '@nestjs/common';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  IsUUID,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import {
  type FilePut,
  type FolderStatus,
  MAX_CUSTOM_TOOLS,
  MAX_IN_FLIGHT,
  MAX_PATH_CHARS,
  MAX_ROOTS,
  MAX_STATUS_FILES,
  RELAY_PROTOCOL,
  type RelayHandshake,
  type ResumeEntry,
  type ResumeState,
  type ToolResultReport,
  type ToolStatus,
  TURN_ID,
} from '@patchbay/protocol';
import { ClientRootDto } from '../clients/roots.dto.js';
import { IsLine, Lowercase, NestedList, ReadBy } from '../common/request.decorators.js';
import { CustomToolDto } from '../tools/custom/custom-tools.dto.js';
import { OutcomeDto } from '../turns/intake/outcome.dto.js';

const SHA256 = /^[0-9A-Fa-f]{64}$/;
const RESUME_STATES: readonly ResumeState[] = [
  'acknowledged',
  'awaiting_approval',
  'running',
  'succeeded',
  'failed',
  'denied',
];

/** Socket.IO handshake `auth`. */
export class HandshakeDto implements RelayHandshake {
  @IsString()
  @MaxLength(8192)
  token!: string;

  @IsUUID()
  workspaceId!: string;

  @IsLine(1, 256)
  clientId!: string;

  @IsLine(1, 256)
  name!: string;

  @IsLine(1, 64)
  version!: string;

  @IsIn([RELAY_PROTOCOL], { message: `must be ${RELAY_PROTOCOL}: this server speaks no other version` })
  protocol!: typeof RELAY_PROTOCOL;

  @IsArray()
  @ArrayMaxSize(256)
  @IsLine(1, 256, { each: true })
  tools!: string[];

  /** The folders that the client has connected. */
  @IsOptional()
  @NestedList(() => ClientRootDto, MAX_ROOTS)
  roots: ClientRootDto[] = [];

  /** The tools that the client brings. */
  @IsOptional()
  @NestedList(() => CustomToolDto, MAX_CUSTOM_TOOLS)
  customTools: CustomToolDto[] = [];

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_IN_FLIGHT)
  maxInFlight: number = MAX_IN_FLIGHT;
}

const IsTurnId = () => Matches(TURN_ID, { message: 'must be a turnId' });
const IsCallId = () => applyDecorators(Lowercase(), IsUUID());
const IsAttempt = () => applyDecorators(IsInt(), Min(1));

export class ToolStatusDto implements ToolStatus {
  @IsTurnId()
  turnId!: string;

  @IsCallId()
  callId!: string;

  @IsAttempt()
  attempt!: number;

  @IsIn(['awaiting_approval', 'running'])
  status!: 'awaiting_approval' | 'running';

  @IsOptional()
  @IsString()
  @MaxLength(4096)
  note?: string;

  /** Refused explicitly until supported [RELAY-46]. */
  @IsOptional()
  @IsIn([], { message: 'is not taken by this server: leave it out, and say in note how far the call is' })
  progress?: never;
}

export class ToolResultDto extends OutcomeDto implements ToolResultReport {
  @IsTurnId()
  turnId!: string;

  @IsCallId()
  callId!: string;

  @IsAttempt()
  attempt!: number;
}

/** Binary attachments of an event are Buffers. */
function readBytes(content: unknown, fault: (path: string, message: string) => void): Uint8Array {
  if (Buffer.isBuffer(content)) return content;
  fault('', 'must be binary');
  return Buffer.alloc(0);
}

export class FilePutDto implements FilePut {
  @IsString()
  @MaxLength(1024)
  docPath!: string;

  @IsString()
  @MaxLength(1025)
  path!: string;

  @ReadBy(readBytes)
  content!: Uint8Array;

  @Matches(SHA256, { message: 'must be 64 hex digits' })
  sha256!: string;

  /** sha256 of the Cloud head; absent or null: the Cloud must not have the file yet. */
  @IsOptional()
  @Matches(SHA256, { message: 'must be 64 hex digits' })
  baseSha256: string | null = null;

  /** Whether the file is executable; absent: unchanged. */
  @IsOptional()
  @IsBoolean()
  isExecutable?: boolean;

  /** true: only the named base may be replaced. */
  @IsOptional()
  @IsBoolean()
  isExact = false;

  @IsOptional()
  @IsUUID()
  callId?: string;

  @IsOptional()
  @IsUUID()
  filePatchId?: string;
}

/** A journal entry; with a report if the call has ended. */
export class ResumeEntryDto extends ToolResultDto implements ResumeEntry {
  @IsIn(RESUME_STATES)
  state!: ResumeState;
}

/** How a connected folder differs from the Cloud. */
export class FolderStatusDto implements FolderStatus {
  /** docPath of the folder. */
  @IsLine(1, MAX_PATH_CHARS)
  docPath!: string;

  @IsArray()
  @ArrayMaxSize(MAX_STATUS_FILES)
  @IsLine(1, MAX_PATH_CHARS, { each: true })
  conflicts!: string[];

  @IsArray()
  @ArrayMaxSize(MAX_STATUS_FILES)
  @IsLine(1, MAX_PATH_CHARS, { each: true })
  behind!: string[];

  /** How many more files of both kinds there are. */
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  more!: number;
}
