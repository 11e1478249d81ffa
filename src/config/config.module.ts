import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { Config } from './config.js';

/** What the process was started with, everywhere at hand. */
@Global()
@Module({})
export class ConfigModule {
  /** @param parts what else belongs to the process as a whole, such as its clock. */
  static with(config: Config, parts: readonly Provider[]): DynamicModule {
    const providers = [{ provide: Config, useValue: config }, ...parts];
    return { module: ConfigModule, providers, exports: providers };
  }
}
