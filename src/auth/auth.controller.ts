import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Credentials } from '@patchbay/protocol';
import { Access } from '../common/access.js';
import { LoginDto, RefreshDto, RegisterDto } from './auth.dto.js';
import { AuthService } from './auth.service.js';

@ApiTags('accounts')
@Access('public')
@Controller('auth')
export class AuthController {
  constructor(private readonly auth: AuthService) {}

  /** Makes an account and logs it in. */
  @Post('register')
  register(@Body() body: RegisterDto): Promise<Credentials> {
    return this.auth.register(body);
  }

  /** An access token and a refresh token for an email and its password. */
  @Post('login')
  @HttpCode(200)
  login(@Body() body: LoginDto): Promise<Credentials> {
    return this.auth.login(body);
  }

  /** New tokens for a refresh token, which works once; once more for 30 s, in case the answer was lost. */
  @Post('refresh')
  @HttpCode(200)
  refresh(@Body() body: RefreshDto): Promise<Credentials> {
    return this.auth.refresh(body.refreshToken);
  }

  /** Ends the login that the refresh token belongs to; nothing happens where it belongs to none. */
  @Post('logout')
  @HttpCode(204)
  logout(@Body() body: RefreshDto): Promise<void> {
    return this.auth.logout(body.refreshToken);
  }
}
