import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { isRequestDto, parseRequestInSlices } from './request-parser.js';

/** Checks every body and query that is declared as an envelope DTO; leaves all else alone. */
@Injectable()
export class RequestPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    const checked = type === 'body' || type === 'query';
    return checked && isRequestDto(metatype) ? parseRequestInSlices(metatype, value) : value;
  }
}
