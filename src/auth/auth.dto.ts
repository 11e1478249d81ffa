import type { LoginRequest, RefreshRequest, RegisterRequest } from '@patchbay/protocol';
import { IsEmail, IsOptional, IsString, MaxLength, MinLength } from 'class-validator';
import { IsLine, IsWellFormed } from '../common/request.decorators.js';

/** Body of `POST /auth/register`. */
export class RegisterDto implements RegisterRequest {
  /** Stored in lowercase; one account per email. */
  @IsEmail({ require_tld: false, ignore_max_length: true })
  @MaxLength(256)
  email!: string;

  @IsWellFormed()
  @MinLength(12)
  @MaxLength(256)
  password!: string;

  @IsOptional()
  @IsLine(1, 256)
  fullName?: string | null;
}

/** Body of `POST /auth/login`. */
export class LoginDto implements LoginRequest {
  @IsString()
  @MaxLength(256)
  email!: string;

  @IsString()
  @MaxLength(256)
  password!: string;
}

/** Body of `POST /auth/refresh` and `POST /auth/logout`. */
export class RefreshDto implements RefreshRequest {
  /** The newest refresh token of the login. */
  @IsString()
  @MaxLength(256)
  refreshToken!: string;
}
