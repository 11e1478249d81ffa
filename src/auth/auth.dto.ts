import { IsEmail, IsOptional, IsString, MaxLength, MinLength } from 'class-validator';
import { IsLine, IsWellFormed } from '../common/request-envelope.decorators.js';

/** Body of `POST /auth/register`. */
export class RegisterDto {
  /** Kept in lowercase; one account each. */
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
export class LoginDto {
  @IsString()
  @MaxLength(256)
  email!: string;

  @IsString()
  @MaxLength(256)
  password!: string;
}

/** Body of `POST /auth/refresh` and `POST /auth/logout`. */
export class RefreshDto {
  /** The newest refresh token of the login. */
  @IsString()
  @MaxLength(256)
  refreshToken!: string;
}
