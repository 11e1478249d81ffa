import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { DomainError } from './domain-error.js';
import { isUuid } from './ids.js';

/** A UUID of a path, lowercased; VALIDATION_ERROR for anything else. */
@Injectable()
export class UuidPipe implements PipeTransform {
  transform(value: unknown, { data = 'id' }: ArgumentMetadata): string {
    if (isUuid(value)) return value.toLowerCase();
    throw new DomainError('VALIDATION_ERROR', `${data} is not a UUID`, {
      fields: { [data]: 'is not a UUID' },
    });
  }
}
