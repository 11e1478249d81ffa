import { createSecretKey } from 'node:crypto';
import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { EventsModule } from '../events/events.module.js';
import { Config } from '../config/config.js';
import { LimitsModule } from '../limits/limits.module.js';
import { AccessTokens } from './access-tokens.js';
import { AuthController } from './auth.controller.js';
import { AuthService } from './auth.service.js';
import { FailedLogins } from './failed-logins.js';
import { jwtSecret } from './jwt-secret.js';
import { LiveLogins } from './live-logins.js';
import { Logins } from './logins.js';
import { PasswordQueue } from './password-queue.js';

@Module({
  imports: [
    EventsModule,
    LimitsModule,
    JwtModule.registerAsync({
      inject: [Config],
      useFactory: async (config: Config) => ({
        // As a key object: for a string the library first tries to parse a public key, for every token.
        secret: createSecretKey(await jwtSecret(config), 'utf8'),
        signOptions: { algorithm: 'HS256' as const },
        verifyOptions: { algorithms: ['HS256' as const] },
      }),
    }),
  ],
  controllers: [AuthController],
  providers: [AuthService, AccessTokens, LiveLogins, Logins, FailedLogins, PasswordQueue],
  exports: [AuthService],
})
export class AuthModule {}
