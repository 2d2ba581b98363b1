// A new post: pictures, caption and upload.

import {announce} from '#design/announce';
import {h, setText, type Child} from '#design/dom';
import {count, plural} from '#design/format';
import {HttpError} from '#design/http';
import {icon} from '#design/icons';
import {toast} from '#design/toast';
import {textMax} from './api';
import type {App, View} from './app';
import {field} from './parts';
import {admit, picturesMax, pictureTypes, refusedBy, type Complaint} from './picture_rules';
import {preview} from './preview';
import {parseRoute, profileHash} from './routes';
import {upload} from './upload';
import {characters, explain} from './words';

interface Chosen {
  file: File;
  element: HTMLElement;
}

export class ComposeView implements View {
  readonly title = 'New post';
  readonly isLasting = true;
  readonly element: HTMLElement;
  readonly #app: App;
  readonly #chosen: Chosen[] = [];
  readonly #input = h('input', {
    type: 'file',
    id: 'pictures',
    class: 'visually-hidden',
    multiple: true,
    accept: pictureTypes.join(','),
  });
  readonly #previews = h('ol', {role: 'list', class: 'previews', 'aria-label': 'Chosen pictures'});
  readonly #caption = h('textarea', {
    class: 'input',
    rows: 4,
    dir: 'auto',
    placeholder: 'Say something about it (optional)',
  });
  readonly #counter = h('p', {class: 'numeric counter'});
  readonly #error = h('div', {class: 'form-error', role: 'alert', hidden: true});
  readonly #progress = h('progress', {max: 100, value: 0, 'aria-label': 'Upload'});
  readonly #progressText = h('p', {class: 'muted numeric'});
  readonly #cancel = h('button', {type: 'button', class: 'button'}, 'Cancel');
  readonly #sending = h('div', {class: 'sending', hidden: true}, this.#progressText, this.#progress, this.#cancel);
  readonly #share = h('button', {type: 'submit', class: 'button button-primary'}, 'Share');
  readonly #invitation = h('strong', {});
  readonly #drop: HTMLElement;
  readonly #fields: HTMLFieldSetElement;
  #under: AbortController | undefined;

  constructor(app: App) {
    this.#app = app;
    this.#drop = h(
      'label',
      {class: 'drop', for: 'pictures'},
      icon('images', 32),
      this.#invitation,
      h('span', {class: 'muted'}, 'or drop them here: 1 to 10, JPEG, PNG, GIF or WebP, up to 5 MB each'),
    );
    this.#fields = h(
      'fieldset',
      {class: 'compose-fields'},
      h('legend', {class: 'visually-hidden'}, 'Post'),
      this.#previews,
      this.#input,
      this.#drop,
      field('Caption', 'caption', this.#caption),
      this.#counter,
    );
    const form = h(
      'form',
      {class: 'form', novalidate: true},
      this.#error,
      this.#fields,
      this.#sending,
      h('div', {class: 'form-actions'}, this.#share),
    );
    this.element = h(
      'section',
      {class: 'column compose'},
      h('h1', {class: 'title', tabindex: -1}, 'New post'),
      h('div', {class: 'card'}, form),
    );
    this.#input.addEventListener('change', () => {
      this.#add([...(this.#input.files ?? [])]);
      this.#input.value = '';
    });
    this.#caption.addEventListener('input', () => this.#show());
    this.#cancel.addEventListener('click', () => this.#under?.abort());
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#send();
    });
    this.#acceptDrops(form);
    this.#show();
  }

  // Whether leaving the page would lose input.
  get hasDraft() {
    return this.#chosen.length > 0 || this.#caption.value.trim() !== '';
  }

  ended() {
    this.#under?.abort();
  }

  #acceptDrops(target: HTMLElement) {
    const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true && !this.#under;
    target.addEventListener('dragover', (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      this.#drop.classList.add('drop-here');
    });
    target.addEventListener('dragleave', (event) => {
      if (!target.contains(event.relatedTarget as Node | null)) this.#drop.classList.remove('drop-here');
    });
    target.addEventListener('drop', (event) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      this.#drop.classList.remove('drop-here');
      this.#add([...(event.dataTransfer?.files ?? [])]);
    });
  }

  #add(files: File[]) {
    const {accepted, complaints} = admit(this.#chosen.length, files);
    this.#clearComplaints();
    for (const complaint of complaints) this.#complainAbout(complaint);
    for (const file of accepted) {
      const picture: Chosen = {file, element: h('li', {class: 'preview'})};
      const canvas = h('canvas', {role: 'img', 'aria-label': file.name});
      picture.element.append(
        canvas,
        h(
          'button',
          {
            type: 'button',
            class: 'button button-icon preview-remove',
            'aria-label': `Remove ${file.name}`,
            onclick: () => this.#remove(picture),
          },
          icon('close', 18),
        ),
      );
      this.#chosen.push(picture);
      this.#previews.append(picture.element);
      void preview(file, canvas).catch(() => {
        // A picture that was removed meanwhile needs no error message.
        if (this.#remove(picture)) this.#complainAbout({name: file.name, reason: 'cannot be read as a picture.'});
      });
    }
    this.#show();
    if (accepted.length > 0) announce(`${plural(this.#chosen.length, 'picture')} chosen`);
  }

  // Returns whether it was still there.
  #remove(picture: Chosen): boolean {
    const at = this.#chosen.indexOf(picture);
    if (at < 0) return false;
    const hadFocus = picture.element.contains(document.activeElement);
    this.#chosen.splice(at, 1);
    picture.element.remove();
    this.#show();
    const next = this.#chosen[Math.min(at, this.#chosen.length - 1)];
    if (hadFocus) (next?.element.querySelector('button') ?? this.#input).focus();
    return true;
  }

  #clearComplaints() {
    this.#error.hidden = true;
    this.#error.replaceChildren();
  }

  // Appends to the current errors: several files may be invalid, and some are found later than others.
  #complain(...text: Child[]) {
    this.#error.hidden = false;
    this.#error.append(h('p', {}, ...text));
    this.#error.scrollIntoView({block: 'nearest'});
  }

  #complainAbout({name, reason}: Complaint) {
    this.#complain('“', h('bdi', {}, name), `” ${reason}`);
  }

  // Removes the pictures that the server rejected; the others stay.
  #explainRefusal(error: unknown, sent: readonly File[]) {
    const refused = error instanceof HttpError ? refusedBy(error.details, sent) : [];
    if (refused.length === 0) return this.#complain(explain(error));
    for (const {candidate, complaint} of refused) {
      const picture = this.#chosen.find(({file}) => file === candidate);
      if (picture) this.#remove(picture);
      this.#complainAbout(complaint);
    }
  }

  #show() {
    const length = characters(this.#caption.value);
    setText(this.#counter, `${count(length)} / ${count(textMax)}`);
    this.#counter.classList.toggle('counter-over', length > textMax);
    this.#caption.setAttribute('aria-invalid', String(length > textMax));
    this.#drop.hidden = this.#chosen.length >= picturesMax;
    setText(this.#invitation, this.#chosen.length > 0 ? 'Add more pictures' : 'Choose pictures');
    this.#drop.classList.toggle('drop-more', this.#chosen.length > 0);
    this.#share.hidden = this.#under !== undefined;
    this.#share.disabled = this.#chosen.length === 0 || length > textMax || this.#under !== undefined;
  }

  #showProgress(sent: number) {
    const percent = Math.floor(sent * 100);
    this.#progress.value = percent;
    setText(
      this.#progressText,
      sent >= 1 ? 'Almost there: the server is looking at your pictures…' : `Uploading… ${percent} %`,
    );
    // The server has everything: after this the outcome of a cancel would be unknown.
    this.#cancel.hidden = sent >= 1;
  }

  async #send() {
    if (this.#share.disabled) return;
    const under = new AbortController();
    this.#under = under;
    this.#clearComplaints();
    this.#fields.disabled = true;
    this.#sending.hidden = false;
    this.#showProgress(0);
    this.#show();
    this.#cancel.focus();
    const files = this.#chosen.map(({file}) => file);
    try {
      await this.#app.session.withToken((headers) =>
        upload({
          files,
          caption: this.#caption.value.trim(),
          headers,
          signal: under.signal,
          onProgress: (sent) => this.#showProgress(sent),
        }),
      );
      this.#finish();
    } catch (error) {
      if (under.signal.aborted) announce('The upload was cancelled.');
      else this.#explainRefusal(error, files);
    } finally {
      this.#under = undefined;
      this.#fields.disabled = false;
      this.#sending.hidden = true;
      this.#show();
    }
  }

  #finish() {
    this.#chosen.length = 0;
    this.#previews.replaceChildren();
    this.#caption.value = '';
    toast('Your post is shared.');
    const user = this.#app.user();
    // If the user has navigated away meanwhile, stay there.
    if (user && parseRoute(location.hash).name === 'compose') this.#app.go(profileHash(user.id));
  }
}
