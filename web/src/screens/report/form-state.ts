import type { CheckedField } from './validate-report';

/** State of the report form beside the values of its plain controls, which the browser keeps. */
export interface FormState {
  /** 'region' or 'region, district'. */
  location: string;
  photo: File | undefined;
  /** The invalid fields of the last attempt to send. */
  wrong: readonly CheckedField[];
  /** Whether the form asks if the phone number is right. */
  asks: boolean;
  /** Whether the description is wrong because of its length. */
  tooLong: boolean;
  /** Counts the attempts to send. */
  attempts: number;
  /** Counts the resets. Fields with a state of their own have it in their key, so a reset remounts them. */
  generation: number;
}

export type FormAction =
  | { type: 'locationChosen'; location: string }
  | { type: 'photoChosen'; photo: File | undefined }
  | { type: 'checked'; wrong: readonly CheckedField[]; tooLong: boolean; asks?: boolean }
  | { type: 'corrected'; wrong: readonly CheckedField[]; tooLong: boolean }
  | { type: 'reset' };

export const emptyForm: FormState = {
  location: '',
  photo: undefined,
  wrong: [],
  asks: false,
  tooLong: false,
  attempts: 0,
  generation: 0,
};

export function reduceForm(state: FormState, action: FormAction): FormState {
  switch (action.type) {
    case 'locationChosen':
      return {
        ...state,
        location: action.location,
        wrong: state.wrong.filter((field) => field !== 'location' || !action.location),
      };
    case 'photoChosen':
      return { ...state, photo: action.photo };
    case 'checked':
      return {
        ...state,
        wrong: action.wrong,
        tooLong: action.tooLong,
        asks: action.asks ?? false,
        attempts: state.attempts + 1,
      };
    case 'corrected':
      return { ...state, wrong: action.wrong, tooLong: action.tooLong, asks: false };
    case 'reset':
      return { ...emptyForm, generation: state.generation + 1 };
  }
}
