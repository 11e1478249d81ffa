import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { isRequestDto, parseRequestInSlices } from './request-parser.js';

/** Checks every body and query that is declared as a request DTO; ignores anything else. */
@Injectable()
export class RequestPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    const checked = type === 'body' || type === 'query';
    return checked && isRequestDto(metatype) ? parseRequestInSlices(metatype, value) : value;
  }
}
