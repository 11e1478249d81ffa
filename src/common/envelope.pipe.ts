import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { isEnvelope, parseEnvelope } from './envelope.js';

/** Checks every body and query that is declared as an envelope DTO; leaves all else alone. */
@Injectable()
export class EnvelopePipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    const checked = type === 'body' || type === 'query';
    return checked && isEnvelope(metatype) ? parseEnvelope(metatype, value) : value;
  }
}
