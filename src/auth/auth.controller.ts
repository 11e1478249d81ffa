import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { Credentials } from '@patchbay/protocol';
import type { FastifyRequest } from 'fastify';
import { Access } from '../common/access.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { CountedAs } from '../limits/rate-limit.guard.js';
import { LoginDto, RefreshDto, RegisterDto } from './auth.dto.js';
import { AuthService } from './auth.service.js';

@Access('public')
@Controller('auth')
export class AuthController {
  constructor(
    private readonly auth: AuthService,
    private readonly addresses: ClientAddresses,
  ) {}

  /** Makes an account and logs it in, where PATCHBAY_REGISTRATION lets anybody, or whoever comes first. */
  @Post('register')
  register(@Body() body: RegisterDto, @Req() { raw }: FastifyRequest): Promise<Credentials> {
    return this.auth.register(body, this.addresses.of(raw));
  }

  /** An access token and a refresh token for an email and its password. */
  @Post('login')
  @HttpCode(200)
  @CountedAs('login')
  login(@Body() body: LoginDto, @Req() { raw }: FastifyRequest): Promise<Credentials> {
    return this.auth.login(body, this.addresses.of(raw));
  }

  /** New tokens for a refresh token, which works until what it was exchanged for was used: the answer may be lost. */
  @Post('refresh')
  @HttpCode(200)
  @CountedAs('refresh')
  refresh(@Body() body: RefreshDto, @Req() { raw }: FastifyRequest): Promise<Credentials> {
    return this.auth.refresh(body.refreshToken, this.addresses.of(raw));
  }

  /** Ends the login that the refresh token belongs to; nothing happens where it belongs to none. */
  @Post('logout')
  @HttpCode(204)
  logout(@Body() body: RefreshDto): Promise<void> {
    return this.auth.logout(body.refreshToken);
  }
}
