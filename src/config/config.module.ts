import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { Config } from './config.js';

/** Provides the configuration of the process everywhere. */
@Global()
@Module({})
export class ConfigModule {
  /** @param parts further process-wide providers, such as the clock. */
  static with(config: Config, parts: readonly Provider[]): DynamicModule {
    const providers = [{ provide: Config, useValue: config }, ...parts];
    return { module: ConfigModule, providers, exports: providers };
  }
}
