// The sign-in dialog for a Hacker News account, and the button that opens it.

import {dialog} from '#design/dialog';
import {h} from '#design/dom';
import {sentence} from '#design/format';
import {HttpError} from '#design/http';

export interface SignIn {
  open(): void;
  // Shows an account that every visitor may use.
  offer(account: {username: string; password: string}): void;
}

function explain(error: unknown): string {
  if (!(error instanceof HttpError)) return 'Something went wrong. Please try again.';
  switch (error.status) {
    case 400:
      return 'Please enter both your username and your password.';
    case 401:
      return 'This username and password do not match.';
    case 429:
      return error.retryAfterSeconds
        ? `Too many tries. Please wait ${Math.ceil(error.retryAfterSeconds / 60)} min and try again.`
        : 'Too many tries. Please wait a few minutes and try again.';
    default:
      return sentence(error.message);
  }
}

const field = (label: string, id: string, attributes: Record<string, string>) => {
  const input = h('input', {
    class: 'input',
    id,
    name: id,
    required: true,
    'aria-describedby': 'sign-in-error',
    ...attributes,
  });
  return {input, element: h('div', {class: 'field'}, h('label', {for: id}, label), input)};
};

// Validates the input without asking the server.
function complaint(acct: string, pw: string): {text: string; about: 'acct' | 'pw'} | undefined {
  if (!acct) return {text: 'Please enter your username.', about: 'acct'};
  if (!/^[A-Za-z0-9_-]+$/.test(acct)) return {text: 'A username has only letters, digits, - and _.', about: 'acct'};
  if (!pw) return {text: 'Please enter your password.', about: 'pw'};
  return undefined;
}

// `submit` signs in; its error is shown in the dialog.
export function signInDialog(submit: (acct: string, pw: string) => Promise<void>): SignIn {
  const acct = field('Username', 'acct', {
    autocomplete: 'username',
    autocapitalize: 'none',
    spellcheck: 'false',
    maxlength: '64',
  });
  const pw = field('Password', 'pw', {type: 'password', autocomplete: 'current-password', maxlength: '256'});
  const error = h('p', {class: 'form-error', id: 'sign-in-error', role: 'alert', hidden: true});
  const button = h('button', {class: 'button button-primary', type: 'submit'}, 'Sign in');
  const actions = h('div', {class: 'form-actions'}, button);
  const intro = h(
    'p',
    {class: 'muted dialog-text'},
    'With your Hacker News account, hidden stories follow you to every device. Your password is checked and not kept.',
  );
  const show = (text: string, about?: HTMLInputElement) => {
    error.textContent = text;
    error.hidden = text === '';
    for (const {input} of [acct, pw]) input.setAttribute('aria-invalid', String(input === about));
    about?.focus();
  };
  const send = async () => {
    const wrong = complaint(acct.input.value.trim(), pw.input.value);
    if (wrong) return show(wrong.text, wrong.about === 'acct' ? acct.input : pw.input);
    show('');
    button.disabled = true;
    button.textContent = 'Signing in…';
    try {
      await submit(acct.input.value.trim(), pw.input.value);
      box.close();
    } catch (reason) {
      show(explain(reason), reason instanceof HttpError && reason.status === 401 ? pw.input : undefined);
    } finally {
      button.disabled = false;
      button.textContent = 'Sign in';
    }
  };
  // Replaces the browser's validation bubbles with our messages.
  const form = h('form', {class: 'form', novalidate: true}, error, acct.element, pw.element, actions);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!button.disabled) void send();
  });
  const box = dialog('Sign in', intro, form);
  // Input is not kept in the page longer than needed.
  box.element.addEventListener('close', () => {
    form.reset();
    show('');
  });
  const fillIn = h('button', {class: 'button', type: 'button'}, 'Fill in');
  const offer: SignIn['offer'] = ({username, password}) => {
    intro.replaceChildren(
      'The sandbox knows no real accounts. Sign in as ',
      h('code', {}, username),
      ' with the password ',
      h('code', {}, password),
      '; any other name works too.',
    );
    fillIn.onclick = () => {
      acct.input.value = username;
      pw.input.value = password;
      show('');
      button.focus();
    };
    actions.prepend(fillIn);
  };
  return {
    offer,
    open: () => {
      box.open();
      acct.input.focus();
    },
  };
}
