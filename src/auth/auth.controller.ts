import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Credentials } from '@patchbay/protocol';
import type { FastifyRequest } from 'fastify';
import { Access } from '../common/access.js';
import { ClientAddresses } from '../common/http/client-address.js';
import { CountedAs } from '../limits/request-limits.js';
import { inAnswer, Route } from '../common/route.js';
import { LoginDto, RefreshDto, RegisterDto } from './auth.dto.js';
import { AuthService } from './auth.service.js';

const REFRESH_TOKEN = { refreshToken: inAnswer('refreshToken') };
const WITH_TOKEN = { refreshToken: REFRESH_TOKEN, logout: REFRESH_TOKEN };

@Access('public')
@Controller('auth')
@ApiTags('accounts')
export class AuthController {
  constructor(
    private readonly auth: AuthService,
    private readonly addresses: ClientAddresses,
  ) {}

  /** Creates an account and logs it in, if PATCHBAY_REGISTRATION allows anybody or only the first user. */
  @Post('register')
  @Route<{ 201: Credentials }>({ id: 'register', errors: ['FORBIDDEN', 'CONFLICT'], links: WITH_TOKEN })
  register(@Body() body: RegisterDto, @Req() { raw }: FastifyRequest): Promise<Credentials> {
    return this.auth.register(body, this.addresses.of(raw));
  }

  /** Exchanges an email and password for an access token and a refresh token. */
  @Post('login')
  @Route<{ 200: Credentials }>({ id: 'login', errors: ['INVALID_TOKEN'], links: WITH_TOKEN })
  @HttpCode(200)
  @CountedAs('login')
  login(@Body() body: LoginDto, @Req() { raw }: FastifyRequest): Promise<Credentials> {
    return this.auth.login(body, this.addresses.of(raw));
  }

  /** Exchanges a refresh token for new tokens; it stays valid until its successor is first used. */
  @Post('refresh')
  @Route<{ 200: Credentials }>({ id: 'refreshToken', errors: ['INVALID_TOKEN'], links: WITH_TOKEN })
  @HttpCode(200)
  @CountedAs('refresh')
  refresh(@Body() body: RefreshDto, @Req() { raw }: FastifyRequest): Promise<Credentials> {
    return this.auth.refresh(body.refreshToken, this.addresses.of(raw));
  }

  /** Ends the login of the refresh token; an unknown token changes nothing. */
  @Post('logout')
  @Route<{ 204: null }>({ id: 'logout' })
  @HttpCode(204)
  logout(@Body() body: RefreshDto): Promise<void> {
    return this.auth.logout(body.refreshToken);
  }
}
