import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Config } from '../config.js';
import { Clock, SystemClock } from './clock.js';
import { Lifecycle } from './lifecycle.js';

/** What the process was started with, everywhere at hand: configuration, the time, and whether it is stopping. */
@Global()
@Module({})
export class ConfigModule {
  static with(config: Config, clock: Clock = new SystemClock()): DynamicModule {
    return {
      module: ConfigModule,
      providers: [{ provide: Config, useValue: config }, { provide: Clock, useValue: clock }, Lifecycle],
      exports: [Config, Clock, Lifecycle],
    };
  }
}
