import type { RelayError } from '@patchbay/protocol';
import type { DomainError } from '../common/domain-error.js';

/** An error for a relay client: as from the HTTP filter, plus the details that only a client can use [RELAY-26]. */
export function relayErrorOf({ code, message, extras }: DomainError): RelayError {
  const { fields, details, retryAfterSeconds } = extras;
  return {
    ...{ code, message },
    ...(fields && { fields }),
    ...(details !== undefined && { details }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}
