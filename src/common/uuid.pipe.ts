import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { DomainError } from './domain-error.js';
import { isUuid } from './ids.js';

/** An id out of a path, in lowercase as we give it; VALIDATION_ERROR where it is no UUID. */
@Injectable()
export class UuidPipe implements PipeTransform {
  transform(value: unknown, { data = 'id' }: ArgumentMetadata): string {
    if (isUuid(value)) return value.toLowerCase();
    throw new DomainError('VALIDATION_ERROR', `${data} is not a UUID`, {
      fields: { [data]: 'is not a UUID' },
    });
  }
}
